/**
 * The first keyword that the text holds as whole words: `form` is not in `information`, and
 * `review pr` is two words with anything but letters and digits between them.
 */
export function findKeyword(text: string, keywords: readonly string[]): string | undefined {
  const words = ` ${wordsOf(text).join(' ')} `
  return keywords.find((keyword) => {
    const wanted = wordsOf(keyword)
    return wanted.length > 0 && words.includes(` ${wanted.join(' ')} `)
  })
}

const maxLength = 100_000

function wordsOf(text: string): readonly string[] {
  return (
    text
      .slice(0, maxLength)
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  )
}
