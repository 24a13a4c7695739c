// What YAML makes of the characters of a quoted or folded text.

const escapes = {
  n: '\n',
  t: '\t',
  r: '\r',
  0: '\0',
  a: '\x07',
  b: '\b',
  v: '\v',
  f: '\f',
  e: '\x1b',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
  '\t': '\t',
  '"': '"',
  '/': '/',
  '\\': '\\',
  ' ': ' ',
}

/** The text between quotes, its lines folded and its escapes replaced. */
export function unquote(quoted, fail) {
  const isDouble = quoted.startsWith('"')
  const folded = quoted
    .slice(1, -1)
    .replace(/(\\?)[ \t]*\n(?:[ \t]*\n)*[ \t]*/g, (space, slash) => {
      const blank = space.split('\n').length - 2
      if (slash !== '' && isDouble) return '\n'.repeat(blank)
      return slash + (blank > 0 ? '\n'.repeat(blank) : ' ')
    })
  if (!isDouble) return folded.replaceAll("''", "'")
  return folded.replace(/\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)/g, (_, code) => {
    if (code.length === 1) return escapes[code] ?? fail(`\\${code} is no escape`)
    const number = Number.parseInt(code.slice(1), 16)
    return number > 0x10ffff ? fail('an escape is no character') : String.fromCodePoint(number)
  })
}

/** Lines as one text: a newline between texts becomes a blank, more-indented lines stay. */
export function foldLines(lines) {
  let text = lines[0] ?? ''
  for (let index = 1; index < lines.length;) {
    let blank = 0
    while (lines[index] === '') {
      blank++
      index++
    }
    const line = lines[index] ?? ''
    const before = lines[index - 1 - blank] ?? ''
    const isKept = /^[ \t]/.test(line) || /^[ \t]/.test(before) || before === ''
    text += (isKept ? '\n'.repeat(blank + 1) : blank > 0 ? '\n'.repeat(blank) : ' ') + line
    index++
  }
  return text
}
