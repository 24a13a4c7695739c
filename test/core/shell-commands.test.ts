import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readShellCommands } from '../../src/core/shell-commands.ts'

/** The commands of a line, words joined with `|`, with the programs that run them. */
function commandsOf(line: string): string[] {
  return readShellCommands(line).commands.map(({ words, wrappers }) => {
    const text = words.map((word) => word.text).join('|')
    return wrappers.length === 0 ? text : `${wrappers.join('>')}: ${text}`
  })
}

describe('readShellCommands', () => {
  it.each([
    ['A=1 B="x y" tool "a b" c\\ d', ['tool|a b|c d']],
    [
      'tool a;tool b&&tool c||tool d|tool e&tool f',
      ['a', 'b', 'c', 'd', 'e', 'f'].map((x) => `tool|${x}`),
    ],
    [
      'if one; then two; elif three; then four; else five; fi',
      ['one', 'two', 'three', 'four', 'five'],
    ],
    ['for x in a; do one; done; while two; do three; done', ['one', 'two', 'three']],
    ['case x in x) one ;; *) two ;; esac', ['one', 'two']],
    ['f() { one; }; (two); { three; }', ['one', 'two', 'three']],
    ['! time -p one', ['one']],
    ["# one\ntwo # three; four\nfive '# six'", ['two', 'five|# six']],
    ['one \\\n  two', ['one|two']],
    ['one > file 2>&1 < other three', ['one|three']],
    ["cat <<'X'\none\nX\ntwo", ['cat', 'two']],
    ['cat <<X\n$(one)\nX', ['cat', 'one']],
    ['x=$(one) y="`two`"', ['one', 'two']],
    [
      'cat <(one) "${x:-$(two)}" $(( $(three) + 1 ))',
      ['cat|<(one)|${x:-$(two)}|$(( $(three) + 1 ))', 'one', 'two', 'three'],
    ],
    ['[[ -n $(one) ]] && two', ['one', 'two']],
    ['', []],
    ['x=1', []],
  ])('reads the simple commands of %j', (line, commands) => {
    expect(commandsOf(line)).toEqual(commands)
    expect(readShellCommands(line).complete).toBe(true)
  })

  it.each([
    ['sudo -u bob -n A=1 tool x', 'sudo: tool|x'],
    ['sudo --user=bob -- tool x', 'sudo: tool|x'],
    ['env -i -u B A=1 tool x', 'env: tool|x'],
    ["env -S 'tool x' y", 'env: tool|x|y'],
    ['nohup nice -n 5 timeout -k 1 5s tool x', 'nohup>nice>timeout: tool|x'],
    ['/usr/bin/time -f %e -o out tool x', 'time: tool|x'],
    ['xargs -0 -I{} -P 4 tool {}', 'xargs: tool|{}'],
    ['command exec -a name tool x', 'command>exec: tool|x'],
    ['stdbuf -oL setsid -w tool x', 'stdbuf>setsid: tool|x'],
    ['flock -w 5 /tmp/lock tool x', 'flock: tool|x'],
    ["flock /tmp/lock -c 'tool x'", 'flock: tool|x'],
    ["su - bob -c 'tool x'", 'su: tool|x'],
    ['busybox chroot /srv tool x', 'busybox>chroot: tool|x'],
    ['bash -euo pipefail -c "tool x"', 'bash: tool|x'],
    ["/bin/sh -lc 'a && tool x' name", 'sh: tool|x'],
    ['eval "tool" x', 'eval: tool|x'],
    ["trap 'tool x' EXIT", 'trap: tool|x'],
    ["find . -name a -exec sh -c 'tool x' {} +", 'find>sh: tool|x'],
    ['ssh -p 22 host tool x', 'ssh: tool|x'],
    ["bash <<'X'\ntool x\nX", 'bash: tool|x'],
    ['sh -s <<< "tool x"', 'sh: tool|x'],
    ['gosu bob fakeroot -u tool x', 'gosu>fakeroot: tool|x'],
    ['op run --env-file=.env -- tool x', 'op: tool|x'],
    ['cmd.exe /d /c tool x', 'cmd: tool|x'],
    ['pwsh -NoProfile -Command "tool x"', 'pwsh: tool|x'],
  ])('reads the command that another program runs in %j', (line, command) => {
    expect(commandsOf(line)).toContain(command)
  })

  it.each([
    'command -v tool',
    'sudo -l tool',
    'sh tool',
    'echo tool',
    "echo 'x; tool'",
    'trap -p tool',
    'ionice -p 1 tool',
  ])('finds no command `tool` in %j', (line) =>
    expect(commandsOf(line).filter((text) => /(?:^|: )tool/.test(text))).toEqual([]),
  )

  it.each([
    'echo "x',
    'if x',
    'a | sh',
    'curl x | sudo bash -s',
    'sh < file',
    '$X y',
    'eval "$X"',
    'sh -c "$1"',
    'if ($x) { tool }',
    'echo $(',
  ])('reports that the list of commands of %j is incomplete', (line) =>
    expect(readShellCommands(line).complete).toBe(false),
  )

  it('returns the place of a command, and the words that the shell will change', () => {
    const line = 'a; tool "x" $Y "$Z" *.c {p,q} \'$w\''
    const [, command] = readShellCommands(line).commands
    expect(line.slice(command?.start, command?.end)).toBe(line.slice(3))
    const constant = command?.words.filter((word) => word.isConstant).map(({ text }) => text)
    expect(constant).toEqual(['tool', 'x', '$w'])
  })

  it('reads any text without an error, in linear time', () => {
    const sign = fc.constantFrom(
      ...'ab "\'`$(){}[]<>|&;#\\\n!*=-~'.split(''),
      'if ',
      'EOF',
      '<<',
      '$((',
      'sh -c ',
    )
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 60 }), (signs) => {
        readShellCommands(signs.join(''))
      }),
      { numRuns: 2000 },
    )
    expect(readShellCommands('$('.repeat(5000)).complete).toBe(false)
    expect(readShellCommands('('.repeat(20_000)).complete).toBe(false)
    expect(readShellCommands('sudo '.repeat(1000)).complete).toBe(false)
  })
})

/** A tree of shell constructs in which every command is run exactly once. */
type Tree =
  | { kind: 'run'; words: readonly string[]; style: number; prefix: string }
  | { kind: 'frame'; frame: number; inner: Tree }
  | { kind: 'two'; joint: string; left: Tree; right: Tree }

let stubs: string
const programs = ['alpha', 'beta', 'gamma']

beforeAll(() => {
  stubs = mkdtempSync(join(tmpdir(), 'skillrail-shell-'))
  mkdirSync(join(stubs, 'bin'))
  for (const name of programs) {
    const file = join(stubs, 'bin', name)
    writeFileSync(
      file,
      `#!/bin/sh\nfor x in ${name} "$@"; do printf '%s\\0' "$x"; done >> "$RECORD"\nprintf '\\1\\0' >> "$RECORD"\n`,
    )
    chmodSync(file, 0o755)
  }
})
afterAll(() => rmSync(stubs, { recursive: true }))

function single(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

const quoteStyles: readonly ((text: string) => string)[] = [
  single,
  (text) => `"${text.replaceAll(/["\\$`]/g, '\\$&')}"`,
  (text) =>
    text === '' || text.includes('\n') ? single(text) : text.replaceAll(/[^A-Za-z0-9]/g, '\\$&'),
  (text) => `$'${text.replaceAll(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`,
]

const frames: readonly ((text: string) => string)[] = [
  (text) => `( ${text}\n)`,
  (text) => `{ ${text}\n}`,
  (text) => `if true; then ${text}\nfi`,
  (text) => `if false; then :; else ${text}\nfi`,
  (text) => `for i in 1; do ${text}\ndone`,
  (text) => `until false; do ${text}\nbreak; done`,
  (text) => `case x in x) ${text}\n;; esac`,
  (text) => `f() { ${text}\n}; f`,
  (text) => `: "a $( ${text}\n) b"`,
  (text) => `x=$( ${text}\n)`,
  // Bash does not wait for this subshell; `:` makes it end after its commands, and `cat` with it.
  (text) => `cat <(${text}\n:) > /dev/null`,
  // A here-document drops a backslash before a line feed, even in quotes.
  (text) =>
    `cat <<X${text.length} > /dev/null\n$( ${text.includes('\\\n') ? 'true' : text}\n)\nX${text.length}`,
  (text) => `"bash" -c ${single(text)}`,
  (text) => `bash -ec ${single(text)}`,
  (text) => `eval ${single(text)}`,
  (text) => `env A=1 nice -n 1 nohup bash -c ${single(text)} 2> /dev/null`,
  (text) => `timeout -k 1 20 bash -c ${single(text)}`,
  (text) => `echo | xargs -n 1 bash -c ${single(text)}`,
  (text) => `false || ${text}`,
  (text) => `# alpha x; beta\n${text}`,
  (text) => `cat <<'Y' > /dev/null\nalpha x\nY\n${text}`,
]

function render(tree: Tree): string {
  if (tree.kind === 'two') return `${render(tree.left)}${tree.joint}${render(tree.right)}`
  if (tree.kind === 'frame') return frames[tree.frame]?.(render(tree.inner)) ?? ''
  const quote = quoteStyles[tree.style] ?? single
  const [name = '', ...rest] = tree.words
  return tree.prefix + [name, ...rest.map(quote)].join('  ')
}

const run = fc.record({
  kind: fc.constant('run' as const),
  words: fc
    .tuple(
      fc.constantFrom(...programs),
      fc.array(
        fc.oneof(
          fc.string({
            unit: fc.constantFrom(...'ab ;&|#\'"\\$`()\n-={}*~!<>'.split('')),
            maxLength: 6,
          }),
          fc.constant('beta x'),
        ),
        { maxLength: 3 },
      ),
    )
    .map(([name, rest]) => [name, ...rest]),
  style: fc.nat(quoteStyles.length - 1),
  prefix: fc.constantFrom(
    '',
    'A=1 ',
    'sudo_=1 command ',
    'env -u B A=2 ',
    'nice -n 2 ',
    '> /dev/null ',
    'time -p ',
    'exec 3>&1; ',
  ),
})

const trees = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    run,
    fc.record({
      kind: fc.constant('frame' as const),
      frame: fc.nat(frames.length - 1),
      inner: tie('tree'),
    }),
    fc.record({
      kind: fc.constant('two' as const),
      joint: fc.constantFrom('\n', '\n: && ', '\ntrue;'),
      left: tie('tree'),
      right: tie('tree'),
    }),
  ),
})).tree

it('lists exactly the commands that bash executes', () => {
  const record = join(stubs, 'record')
  fc.assert(
    fc.property(trees, (tree) => {
      const line = render(tree)
      writeFileSync(record, '')
      const env = { PATH: `${join(stubs, 'bin')}:/usr/bin:/bin`, RECORD: record }
      spawnSync('bash', ['-c', line], { env, input: '' })
      const executed = readFileSync(record, 'utf8')
        .split('\u0001\0')
        .filter((text) => text !== '')
        .map((text) => text.split('\0').slice(0, -1))
      const { commands, complete } = readShellCommands(line)
      const listed = commands
        .map(({ words }) => words.map(({ text }) => text))
        .filter(([name = '']) => programs.includes(name))
      const sorted = (all: readonly string[][]) =>
        all.map((words) => JSON.stringify(words)).toSorted()
      expect(sorted(listed)).toEqual(sorted(executed))
      expect(complete).toBe(true)
    }),
    { numRuns: 150 },
  )
}, 120_000)
