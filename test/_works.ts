export const sum = (size: number) => (): number => {
  let total = 0
  for (let at = 0; at < size; at++) if (at % 2 === 0) total += at
  return total
}

export const pairs = (size: number) => (): number => {
  let equal = 0
  for (let left = 0; left < size; left++) {
    for (let right = 0; right < size; right++) if (left === right) equal++
  }
  return equal
}
