-- SPDX-License-Identifier: GPL-2.0-only
create table squares(n, square);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 50)
	insert into squares select x, x * x from c;
create index by_square on squares(square);
select n % 3, sum(square) from squares where square > 100 group by n % 3;
