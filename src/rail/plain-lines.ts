// A test of shell lines that loads no lexer: most lines have no word of any guard.

/** No character that lets a shell replace a word by another text: expansions, globs and braces. */
const plainLine = /^[\w\s.,:;/\\=@%+&|<>#!'"^-]*$/

/**
 * Whether a line may run a command that matches a pattern such as `git push:*`. False only if the line
 * is plain and some word of the pattern is nowhere in it; then no reading of the line has the command.
 */
export function mayName(line: string, pattern: string): boolean {
  if (!plainLine.test(line)) return true
  const text = bare(line)
  const [first = '', ...rest] = pattern
    .replace(/(?::| )\*$/, '')
    .trim()
    .split(/\s+/)
  // Of a program only its name counts.
  const name = first.replace(/^.*[\\/]/s, '').replace(/\.(?:exe|cmd|bat)$/i, '')
  return [name, ...rest].every((word) => word.split('*').every((part) => text.includes(bare(part))))
}

/** Quotes, escapes and line ends can be anywhere in a word, and some shells write `\` for `/`. */
function bare(text: string): string {
  return text.replaceAll(/['"\\/^\r\n]/g, '').toLowerCase()
}
