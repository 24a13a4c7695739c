import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCall } from '../../src/hooks/prompt.ts'
import { toolProblems } from '../../src/skill/step-tools.ts'
import { type ClientCall, isAllowed, isGuarded } from '../../src/rail/calls.ts'
import { mayName } from '../../src/rail/plain-lines.ts'
import { mayRun } from '../../src/rail/shell-calls.ts'

function shell(command: string): ClientCall {
  const call = readCall('Bash', { command })
  return { client: 'claude', tool: 'Bash', call, cwd: '/w', workspace: '/w' }
}

const isDenied = async (line: string, guard = 'Bash(tool push:*)'): Promise<boolean> => {
  return await isGuarded(shell(line), guard)
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Spellings of one word that mean the same to a shell. */
const spelled = (word: string) =>
  fc.constantFrom(
    word,
    quoted(word),
    `"${word}"`,
    `\\${word}`,
    `${word.slice(0, 1)}''${word.slice(1)}`,
    `${word.slice(0, 2)}"${word.slice(2)}"`,
    `$'${word}'`,
  )

const program = fc.oneof(
  spelled('tool'),
  fc.constantFrom('./tool', '/usr/bin/tool', '"../a b/tool"', 'Tool', 'tool.exe'),
)
const options = fc.constantFrom('', '-q', '-C dir', '--verbose', '-c a=b --quiet')
const guardedCommand = fc
  .tuple(
    program,
    options,
    spelled('push'),
    fc.constantFrom('', ' origin main', ' > /dev/null 2>&1'),
  )
  .map(([name, between, verb, rest]) => `${name} ${between} ${verb}${rest}`)

/** Words of the shell itself, which no program can have as its name there. */
const keywords = new Set(
  'case coproc do done elif else esac fi for function if in select then time until while'.split(
    ' ',
  ),
)
const name = fc
  .stringMatching(/^[a-z][a-z-]{0,8}$/)
  .filter((text) => text !== 'tool' && !keywords.has(text))
const wrapping = fc.tuple(fc.nat(14), name).map(([kind, word]) => (line: string): string => {
  const forms = [
    `env A=1 sh -c ${quoted(line)}`,
    `bash -lc ${quoted(line)}`,
    `eval ${quoted(line)}`,
    `cd ${word} && ${line}`,
    `${word} || { ${line}\n}`,
    `( ${line} )`,
    `if ${word}; then ${line}\nfi`,
    `for i in 1 2; do ${line}\ndone`,
    `echo "$( ${line} )"`,
    `sudo -u ${word} sh -c ${quoted(line)}`,
    `${word} run ${quoted(line)}`,
    `${word} & ${line}`,
    `nohup timeout 5 sh -c ${quoted(line)}`,
    `${word}() { ${line}\n}; ${word}`,
    `sh <<'END${line.length}'\n${line}\nEND${line.length}`,
  ]
  return forms[kind] ?? line
})

const guardedLine = fc
  .tuple(guardedCommand, fc.array(wrapping, { maxLength: 4 }))
  .map(([command, wrappings]) => wrappings.reduce((inner, wrap) => wrap(inner), command))

describe('a guard on a shell command', () => {
  it('denies every spelling, also below any wrapper', async () => {
    await fc.assert(
      fc.asyncProperty(guardedLine, async (line) => await isDenied(line)),
      { numRuns: 2000 },
    )
  })

  it.each([
    'poetry run tool push',
    'docker exec c sh -c "cd x && tool push"',
    'concurrently "tool push" other',
    'xargs tool push < names',
    'G=tool; $G push',
    'tool $VERB',
    'tool "$@"',
    '"$(which tool)" push',
    'echo "tool push" | sh',
    'echo start; tool push <<',
    "apply_patch <<'E'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE\ntool push",
    "tool push; echo '*** Begin Patch'",
  ])('denies %j', async (line) => {
    expect(await isDenied(line)).toBe(true)
  })

  it.each([
    'tool pull',
    'toolbox push',
    'ls -l "$HOME"; tool status',
    "cat > notes.md <<'E'\nThen run:\ntool push\nE",
    "apply_patch <<'E'\n*** Begin Patch\n*** Add File: a\n+tool push\n*** End Patch\nE",
    'git commit -m "Push the tool"',
  ])('allows %j', async (line) => {
    expect(await isDenied(line)).toBe(false)
  })

  it.each(['Bash', 'bash', 'shell', 'run_shell_command'])('denies a call of %s', async (tool) => {
    for (const command of ['tool push', "tool push; echo '*** Begin Patch'"]) {
      const call = readCall(tool, { command })
      const about = { client: 'gemini', tool, call, cwd: '/w', workspace: '/w' } as const
      expect(await isGuarded(about, 'Bash(tool push:*)')).toBe(true)
    }
  })

  it('denies only its program if it lists no arguments', async () => {
    expect(await isDenied('P=publish; $P now', 'Bash(publish:*)')).toBe(true)
    expect(await isDenied('"$EDITOR" file', 'Bash(publish:*)')).toBe(false)
  })

  it('is not bypassed when a patch in a shell line hides other commands from a list of tools', async () => {
    const patch = "apply_patch <<'E'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE\n"
    expect(await isAllowed(shell(`${patch}tool push`), 'Edit(a)')).toBe(false)
    expect(await isAllowed(shell(`${patch}tool push`), 'Bash(apply_patch:*)')).toBe(false)
  })

  it.each(['--', '-x', '--run; -q', ''])('does not let a list of tools allow %j', async (line) => {
    expect(await isAllowed(shell(line), 'Read')).toBe(false)
    expect(await isAllowed(shell(line), 'Bash(npm test:*)')).toBe(false)
  })
})

describe('a valid guard', () => {
  const patterns = fc
    .array(fc.stringMatching(/^[\w./:=*"'$;&|(-]{1,8}$/), { minLength: 1, maxLength: 3 })
    .map((words) => words.join(' '))

  it('denies the command that it contains', async () => {
    await fc.assert(
      fc.asyncProperty(patterns, async (pattern) => {
        const guard = `Bash(${pattern}:*)`
        fc.pre(toolProblems({ guard }).length === 0)
        const spelled = pattern.replaceAll('*', 'x')
        expect(await isDenied(spelled, guard)).toBe(true)
      }),
    )
  })

  it('denies a program by its name, even if the guard contains its path', async () => {
    for (const line of [
      './deploy.sh prod',
      'sh deploy.sh',
      'scripts/../deploy.sh',
      'cd x && /w/deploy.sh',
    ]) {
      expect({ line, denied: await isDenied(line, 'Bash(./deploy.sh:*)') }).toEqual({
        line,
        denied: true,
      })
    }
  })
})

describe('the test that spares the shell lexer', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'tool',
      'push',
      'pull',
      'sh',
      '-c',
      'env',
      'x',
      '/bin/tool',
      'a\\tool.exe',
      'Tool',
    ),
    spelled('tool'),
    spelled('push'),
    fc.stringMatching(/^[\w.:=/*@%^#!'"\\~${}()[\]?<>&;|`-]{1,6}$/),
  )
  const separator = fc.constantFrom(' ', ' ', ' ', '; ', ' && ', ' | ', '\n', '\\\n', '', '"', "'")
  const line = fc
    .array(fc.tuple(word, separator), { minLength: 1, maxLength: 7 })
    .map((parts) => parts.flat().join(''))
  const pattern = fc.oneof(
    fc.constantFrom(
      'tool push:*',
      'tool *',
      'to*l p*h',
      '/usr/bin/tool:*',
      'tool.exe push',
      '*push',
    ),
    fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' ')),
  )

  it('finds every line that a reading of the shell finds', () => {
    fc.assert(
      fc.property(line, pattern, (text, guard) => {
        expect(mayName(text, guard) || !mayRun(text, guard)).toBe(true)
      }),
      { numRuns: 1000, seed: 30 },
    )
  })

  it('spares it for plain lines without the words of a guard', () => {
    expect(mayName('npm test && git status --short', 'git push:*')).toBe(false)
    expect(mayName('sh -c \'gi\\t pu"s"h\'', 'git push:*')).toBe(true)
    expect(mayName('git $VERB', 'git push:*')).toBe(true)
  })
})
