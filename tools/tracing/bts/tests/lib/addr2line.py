# SPDX-License-Identifier: GPL-2.0-only
"""Ask llvm-addr2line which functions are inlined at given addresses.

GNU addr2line is not suitable. If an inlined function has no linkage name, GNU addr2line prints the
name of a symbol instead of the function's name.
"""
import re
import subprocess


def plain(name):
    """Return a name without the arguments, and without the text by which bts distinguishes equal
    names."""
    return re.sub(r"( \[|\().*", "", name)


def inlined(path, addresses):
    """Map each address in the file to the functions that are inlined there, outermost first."""
    addresses = sorted(set(addresses))
    said = subprocess.run(["llvm-addr2line", "-a", "-f", "-i", "-C", "-e", path],
                          input="".join(f"{a:#x}\n" for a in addresses), text=True, check=True,
                          capture_output=True).stdout
    chains = re.split(r"^0x[0-9a-f]+\n", said, flags=re.M)[1:]
    # Each pair of lines contains a function and its source line. The innermost function comes
    # first. The last function is not inlined.
    return {address: [plain(name) for name in chain.splitlines()[-4::-2]]
            for address, chain in zip(addresses, chains)}
