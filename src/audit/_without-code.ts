/** Markdown with every character of its code replaced by a blank: offsets and lines stay. */
export function withoutCode(text: string): string {
  let fence: string | undefined
  return text
    .split('\n')
    .map((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
      if (fence === undefined) {
        if (mark === undefined)
          return line.replaceAll(/`[^`]*`/g, (code) => ' '.repeat(code.length))
        fence = mark
      } else if (mark?.startsWith(fence) === true) fence = undefined
      return ' '.repeat(line.length)
    })
    .join('\n')
}
