// Prints, as Markdown, the ways in which something could act and the attempts to leave the sandbox.
import { waysIn } from '../test/attacks/ways-in.ts'
import { attempts } from '../test/sandbox/_attempts.ts'

const ways = waysIn.map(({ way, prevention, file, title }) => [
  way,
  prevention,
  `\`${file}\`: ${title}`,
])
const escapes = attempts.map(({ tries, heldBy }) => [tries, heldBy])

process.stdout.write(`# Ways in

${table([['way', 'what prevents it', 'test'], ...ways])}
# Attempts to leave the sandbox

${table([['tried from inside', 'what prevents it'], ...escapes])}`)

function table([head, ...rows]) {
  const lines = [head, head.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |\n`,
  )
  return lines.join('')
}
