import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readPossibleCommands, readShellCommands } from '../../src/core/shell-commands.ts'

const isGuarded = (program: string): boolean => program === 'tool'

/** The guarded commands of a line, with why they count. */
function guarded(line: string): string[] {
  return readPossibleCommands(line, isGuarded)
    .commands.filter(({ words }) => words[0]?.text.endsWith('tool') === true)
    .map(({ words, evidence }) => `${evidence}: ${words.map(({ text }) => text).join(' ')}`)
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Words of the shell itself, which no program can have as its name. */
const keywords = new Set(
  'case coproc do done elif else esac fi for function if in select then time until while'.split(
    ' ',
  ),
)

/** Ways to run a command that no table can list. Names are arbitrary. */
const name = fc
  .stringMatching(/^[a-z][a-z-]{0,8}$/)
  .filter((text) => !isGuarded(text) && !keywords.has(text))
const option = fc.oneof(
  name.map((text) => `--${text}`),
  name.map((text) => `--${text}=x`),
  fc.constantFrom('-y', '-it', '-e A=1', '-u bob'),
)
const before = fc.array(fc.oneof(name, option), { maxLength: 4 }).map((words) => words.join(' '))
const wrapping = fc
  .tuple(
    name,
    before,
    fc.constantFrom('words', 'shell', 'word', 'value', 'attached', 'input', 'list'),
  )
  .map(([program, words, kind]) => (line: string): string => {
    const start = `${program} ${words}`
    if (kind === 'words') return `${start} ${line.includes('\n') ? `sh -c ${quoted(line)}` : line}`
    if (kind === 'shell') return `${start} bash -lc ${quoted(line)}`
    if (kind === 'word') return `${start} ${quoted(line)} more`
    if (kind === 'value') return `${start} --run=${quoted(line)}`
    if (kind === 'attached') return `${start} -c${quoted(line)}`
    if (kind === 'input') return `${start} sh <<'END${line.length}'\n${line}\nEND${line.length}`
    return `true && ${start} x; ${line.includes('\n') ? `eval ${quoted(line)}` : line}`
  })

describe('readPossibleCommands', () => {
  it.each([
    ['poetry run tool push', ['arguments: tool push']],
    ['npx -y foo tool push', ['arguments: tool push']],
    ['uv run --with x -- tool push', ['runs: tool push', 'arguments: tool push']],
    ['docker exec -it c tool push', ['arguments: tool push']],
    ['docker exec c sh -c "cd x && tool push"', ['text: tool push', 'arguments: tool push']],
    ['pnpm exec /usr/bin/tool push', ['arguments: /usr/bin/tool push']],
    ['concurrently "tool push" "other"', ['text: tool push']],
    ['npm exec -c "tool push"', ['text: tool push']],
    ['mise x --command="tool push"', ['text: tool push']],
    ['compose exec -T app bash <<E\ntool push\nE', ['text: tool push', 'arguments: tool push']],
    ['ssh host <<E\ntool push\nE', ['text: tool push']],
    ['echo "tool push" | ssh host', ['text: tool push']],
    ['ed <<< "!tool push"', ['text: tool push']],
    ['ed notes <<E\n1p\n  !tool push\nq\nE', ['text: tool push']],
    ['{ vim -es; } <<E\n:!tool push\nE', ['text: tool push']],
    ['cat() { ed; }; cat > out <<E\n!tool push\nE', ['text: tool push']],
    ['bash <<E\n# tool push comes later\nls\nE', []],
    ['=tool push', ['runs: =tool push']],
    ["zsh -c '=tool push'", ['runs: =tool push']],
    ['run x =tool push', ['arguments: =tool push']],
    ['tool push', ['runs: tool push']],
    ['echo toolbox push', []],
    ['ls -l; cat file', []],
  ])('finds the possible commands of %j', (line, expected) => {
    const found = guarded(line)
    expect(found).toEqual(expect.arrayContaining(expected))
    expect(found.length > 0).toBe(expected.length > 0)
  })

  it.each([
    ['t^ool push', 'tool push'],
    ['to`ol push', 'tool push'],
    ['C:\\programs\\tool.exe push', 'C:/programs/tool.exe push'],
    ['cmd /c "t^ool push"', 'tool push'],
    ['powershell -Command "& tool push"', 'tool push'],
    ['Start-Process tool -ArgumentList push', 'tool -ArgumentList push'],
    ['if ($x) { tool push }', 'tool push'],
  ])('finds in the line %j of cmd or PowerShell the command %j', (line, command) => {
    const found = readPossibleCommands(line, isGuarded)
    const texts = found.commands.map(({ words }) => words.map(({ text }) => text).join(' '))
    expect(texts.includes(command) || !found.complete).toBe(true)
  })

  it('finds a command behind any programs, in any of their words, however deep', () => {
    fc.assert(
      fc.property(fc.array(wrapping, { minLength: 1, maxLength: 4 }), name, (wrappings, word) => {
        const line = wrappings.reduce((inner, wrap) => wrap(inner), `tool ${word}`)
        const { commands, complete } = readPossibleCommands(line, isGuarded)
        const isFound = commands.some(({ words }) => {
          return words[0]?.text === 'tool' && words[1]?.text === word
        })
        expect(isFound || !complete).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('contains every command that the line runs, and never claims more certainty', () => {
    const text = fc.string({
      unit: fc.constantFrom(...'ab tool;&|#\'"\\$`()\n-={}*~!<>^'.split('')),
      maxLength: 60,
    })
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          wrapping.map((wrap) => wrap('tool x')),
        ),
        (line) => {
          const reading = readShellCommands(line)
          const possible = readPossibleCommands(line, isGuarded)
          const runs = possible.commands.filter(({ evidence }) => evidence === 'runs')
          expect(runs).toEqual(reading.commands)
          expect(possible.complete && !reading.complete).toBe(false)
          const others = possible.commands.filter(({ evidence }) => evidence !== 'runs')
          for (const { words } of others) {
            expect(words[0]?.isConstant === false || words[0]?.text.includes('tool')).toBe(true)
          }
        },
      ),
      { numRuns: 3000 },
    )
  })

  it("is incomplete if a program's name is known only at run time", () => {
    for (const line of ['X="tool push"; run $X', 'run $(cat x)', 'cat x | run sh']) {
      expect(readPossibleCommands(line, isGuarded).complete).toBe(false)
    }
    expect(readPossibleCommands('run "a b" c', isGuarded).complete).toBe(true)
  })

  it.each([
    ['tool ', 'the guarded program'],
    ['sudo ', 'a wrapper'],
    ['sh -c ', 'a shell'],
    ["'a b' ", 'a text'],
    ["'tool b' ", 'the same text'],
    ['a ', 'a word'],
    ['-- ', 'the end of options'],
    ['"$(', 'an open substitution'],
    ['eval "', 'an open quote'],
    ['{tool,b} ', 'braces'],
    ['{a,b}', 'braces in one word'],
    ["--a=b=c='x y' ", 'values'],
  ])('reads many repetitions of %j in linear time, and reports where it stopped: %s', (part) => {
    const line = `run ${part.repeat(20_000)}`
    const { commands, complete } = readPossibleCommands(line, isGuarded)
    expect(commands.length).toBeLessThan(2000)
    const isCut = /tool|sudo|sh|[{]/.test(part) && !part.includes("'")
    expect(isCut && complete).toBe(false)
  })
})
