/** Cents. A tenth off from ten pieces of one thing on; postage is free from 50 euros on. */
export function total(lines) {
  const goods = lines.reduce((sum, { price, count }) => {
    if (!Number.isInteger(count) || count < 1) throw new RangeError(`a count of ${count}`)
    const full = price * count
    return sum + (count >= 10 ? Math.round(full * 0.9) : full)
  }, 0)
  return { goods, postage: goods === 0 || goods >= 5000 ? 0 : 490 }
}
