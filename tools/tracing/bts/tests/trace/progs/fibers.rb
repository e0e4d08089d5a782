# SPDX-License-Identifier: GPL-2.0-only
#
# Run three fibers in turn. The fibers yield at different depths.

def deep(n, &block)
  n.zero? ? block.call : deep(n - 1, &block)
end

fibers = Array.new(3) do |i|
  Fiber.new { 3.times { |k| deep(i + k) { Fiber.yield(i * k) } } }
end
total = 0
while fibers.any?(&:alive?)
  fibers.select(&:alive?).each { |fiber| total += fiber.resume.to_i }
end
puts total
