/** An estimate without a tokenizer: four UTF-16 code units are one token, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4)
}
