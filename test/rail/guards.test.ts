import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCall } from '../../src/hooks/prompt.ts'
import { toolProblems } from '../../src/skill/step-tools.ts'
import { type ClientCall, guardAgainst, isAllowed } from '../../src/rail/calls.ts'
import { mayName } from '../../src/rail/plain-lines.ts'
import { readForGuards } from '../../src/rail/shell-calls.ts'
import {
  denialAtStart,
  denialWithoutRecord,
  denialWithoutState,
} from '../../src/rail/unknown-guards.ts'

function mayRun(line: string, pattern: string): boolean {
  return readForGuards(line, [pattern]).mayRun(pattern)
}

async function isGuarded(call: ClientCall, calls: string): Promise<boolean> {
  return (await guardAgainst(call, [{ calls }])) !== undefined
}

function shell(command: string): ClientCall {
  const call = readCall('Bash', { command })
  return { client: 'claude', tool: 'Bash', call, cwd: '/w', workspace: '/w', home: '/h' }
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
    "tee -a notes.md > /dev/null <<'E'\ntool push\nE",
    "cat >> notes.md <<'E' && git add notes.md\ntool push\nE",
  ])('allows %j', async (line) => {
    expect(await isDenied(line)).toBe(false)
  })

  it.each([
    "git commit -m \"$(cat <<'EOF'\nfix: let users push the button\n\nIt's {now} in `git log`.\nEOF\n)\"",
    "cat > docs/a.md <<'EOF'\nRun `git push` afterwards.\nEOF\ngit add docs/a.md && git commit -m 'docs: say how'",
    'GIT_EDITOR=true git rebase --continue',
    'FOO=bar npm test > out.log 2>&1; git status --short',
    'for f in src/*.ts; do git mv "$f" "${f%.ts}.mts"; done',
    'while read -r f; do git add "$f"; done < push.txt',
    'while read -r f; do git add "$f"; done <<\'E\'\na\npush.ts\nE',
    'touch {push,pull}.ts && git add {push,pull}.ts',
    'git log --format="%h %s" | grep -i push',
    "awk -F= '{print $1}' push.env; git diff",
    'diff <(git show HEAD:push.ts) push.ts',
    'python3 "$SCRIPT" "$FILE" && git diff --stat',
    'cd "$(git rev-parse --show-toplevel)" && make push-docs',
    'docker push image; git tag v1',
    'git config push.default simple',
    '{ echo one; git log; } > notes.txt',
    'export A="x y"; git fetch --all',
    'npm run build -- --config=a.js --name="git hooks push"',
  ])('on `git push` allows the everyday line %j', async (line) => {
    expect(await isDenied(line, 'Bash(git push:*)')).toBe(false)
  })

  it.each(['Bash', 'bash', 'shell', 'run_shell_command'])('denies a call of %s', async (tool) => {
    for (const command of ['tool push', "tool push; echo '*** Begin Patch'"]) {
      const call = readCall(tool, { command })
      const about = { ...shell(''), client: 'gemini', tool, call } as const
      expect(await isGuarded(about, 'Bash(tool push:*)')).toBe(true)
    }
  })

  it.each(['=tool push', "zsh -c '=tool push'", 'sudo =tool -q push', '=t"oo"l push'])(
    'denies %j, in which zsh replaces the program by its path',
    async (line) => {
      expect(await isDenied(line)).toBe(true)
    },
  )

  it('denies only its program if it lists no arguments', async () => {
    expect(await isDenied('P=publish; $P now', 'Bash(publish:*)')).toBe(true)
    expect(await isDenied('"$EDITOR" file', 'Bash(publish:*)')).toBe(false)
  })

  it('that nobody can read denies every call with a command, also with a patch', () => {
    const file = { path: '/f', reason: 'it is not JSON' }
    for (const tool of ['Bash', 'shell', 'run_shell_command']) {
      for (const command of ['tool push', 'tool push # *** Begin Patch', '*** Begin Patch']) {
        const call = readCall(tool, { command })
        const denials = [
          denialAtStart(call, 'ship'),
          denialWithoutState(call, file),
          denialWithoutRecord(call, file),
        ]
        expect(denials).not.toContain(undefined)
      }
    }
    expect(denialAtStart(readCall('apply_patch', { input: '*** Begin Patch' }), 'ship')).toBe(
      undefined,
    )
  })

  it('is not bypassed when a patch in a shell line hides other commands from a list of tools', async () => {
    const patch = "apply_patch <<'E'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE\n"
    expect(await isAllowed(shell(`${patch}tool push`), 'Edit(a)')).toBe(false)
    expect(await isAllowed(shell(`${patch}tool push`), 'Bash(apply_patch:*)')).toBe(false)
  })

  it('lets a list of tools with `Edit` allow a patch in a shell line, and no other command', async () => {
    const patch = "apply_patch <<'E'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE\n"
    const tools = 'Read Edit Bash(npm test:*)'
    expect(await isAllowed(shell(patch), tools)).toBe(true)
    expect(await isAllowed(shell(`${patch}npm test`), tools)).toBe(true)
    for (const line of [`${patch}rm -rf src`, 'rm -rf src # *** Begin Patch']) {
      expect({ line, isAllowed: await isAllowed(shell(line), tools) }).toEqual({
        line,
        isAllowed: false,
      })
    }
    expect(await isAllowed(shell(patch), 'Edit(b) Bash')).toBe(false)
    expect(await isAllowed(shell(patch), 'Edit(a) Bash(apply_patch:*)')).toBe(true)
  })

  it.each(['--', '-x', '--run; -q', 'npm test; -rf', ''])(
    'does not let a list of tools allow %j',
    async (line) => {
      expect(await isAllowed(shell(line), 'Read')).toBe(false)
      expect(await isAllowed(shell(line), 'Bash(npm test:*)')).toBe(false)
    },
  )
})

describe('a line that is too long to be read', () => {
  const nested = (depth: number, [open, close]: readonly [string, string], inner: string): string =>
    `${open.repeat(depth)}${inner}${close.repeat(depth)}`
  const places = [
    ['$(', ')'],
    ['"$(', ')"'],
    ['<(', ')'],
    ['$((', '))'],
    ['"${x:-', '}"'],
    ['${x[', '] }'],
  ] as const
  const calls = '`a x` '.repeat(10_000)
  const unreadable = [
    ...places.map((place) => nested(20_000, place, 'a')),
    `: x^ '-a=b=c=d= ${calls}'`,
    `: x^ '-a=b=c=d= ${nested(2500, ['$(', ')'], calls)}'`,
    Array.from({ length: 20_000 }, (_, at) => `x $y -a=b=c=d="x a ${at}" \\\n`).join(''),
    `x $y ${'echo a\n'.repeat(50_000)}`,
    `sh <<E\n${`x $y 'a b'\n`.repeat(40_000)}E\n`,
  ]

  it.each(unreadable.map((line) => [line.slice(0, 20), line]))(
    'is denied if there are guards, and says why: %j',
    async (_, line) => {
      const guards = [{ calls: 'Read(a)' }, { calls: 'Bash(other:*)' }]
      const against = await guardAgainst(shell(line), guards)
      expect(against).toEqual({ guard: guards[1], isTooLong: true })
      expect(await guardAgainst(shell(line), [{ calls: 'Read(a)' }])).toBe(undefined)
      expect(await isAllowed(shell(line), 'Bash(x:*) Bash(a:*)')).toBe(false)
    },
  )

  it('is not a line with a here-document of 100,000 characters', async () => {
    const texts = [
      'A sentence with `code`, "quotes" and $VARIABLES; see (below).\n',
      'const value = call("a b", [1, 2]) // a comment with `code`\n',
      '  "key": { "name": "a=b", "list": ["x y", "$z"] },\n',
      'if [ -n "$x" ]; then echo \'a b\' | grep -q "$(cat file)"; fi\n',
    ]
    const starts = ['cat > notes.md', 'python3 -', 'ssh host', 'git commit -F -', 'tee a b']
    for (const text of texts) {
      const body = text.repeat(Math.ceil(100_000 / text.length))
      for (const start of starts) {
        for (const end of ['E', "'E'"]) {
          const line = `${start} <<${end}\n${body}E\n`
          const against = await guardAgainst(shell(line), [{ calls: 'Bash(tool push:*)' }])
          expect({ line: line.slice(0, 80), against }).toEqual({
            line: line.slice(0, 80),
            against: undefined,
          })
        }
      }
    }
  })
})

describe('a list of tools', () => {
  const tools = 'Read Bash(npm test:*)'
  const harmless = fc.constantFrom('', '2>&1', '> /dev/null', '2> /dev/null', '>&2', '< input')
  const changing = fc.constantFrom(
    '> a.ts',
    '>> a.ts',
    '>| a.ts',
    '&> a.ts',
    '2> a.ts',
    '<> a.ts',
    '>& a.ts',
    '{x}> a.ts',
    '> "$X"',
    '> /dev/null/../../a.ts',
    '> /dev/tcp/host/80',
  )
  const assigning = fc
    .tuple(
      fc.stringMatching(/^[A-Za-z_]\w{0,5}$/),
      fc.constantFrom('=x', '+=x', '=(x)', '[1]=x', '='),
    )
    .filter(([variable]) => !keywords.has(variable))
    .map((parts) => parts.join(''))
  const calculating = fc.constantFrom(
    'PATH=1',
    'a == 1 ? PATH=1 : 2',
    'PATH+=1',
    'PATH<<=1',
    'PATH>>=1',
    'PATH++',
    '--PATH',
    'x[PATH=1]',
    '$(npm test)',
  )
  const place = fc.constantFrom<readonly [(line: string) => string]>(
    [(line) => line],
    [(line) => `{ ${line}\n}`],
    [(line) => `(${line})`],
    [(line) => `npm test "$(${line})"`],
    [(line) => `npm test && ${line}`],
    [(line) => `if ${line}; then npm test; fi`],
    [(line) => `npm test <(${line})`],
  )

  it('allows a listed command in any place, with output that writes no file', async () => {
    await fc.assert(
      fc.asyncProperty(harmless, place, async (redirection, [put]) => {
        expect(await isAllowed(shell(put(`npm test ${redirection}`)), tools)).toBe(true)
      }),
    )
  })

  it('allows arithmetic and expansions that set nothing', async () => {
    const arithmetic = fc.constantFrom('1 + 2', 'a <= 2 && b >= 3', 'a != b', 'a == 1', '$X - -1')
    const reading = fc.oneof(
      arithmetic.map((text) => `npm test $((${text}))`),
      arithmetic.map((text) => `((${text})) && npm test`),
      fc
        .constantFrom('"${x@Q}"', '"${x: -1}"', '"${x[0]}"', '"${x[@]}"')
        .map((x) => `npm test ${x}`),
      fc.constant('[[ a == b--c ]] && npm test'),
    )
    await fc.assert(
      fc.asyncProperty(reading, place, async (line, [put]) => {
        const denied = !(await isAllowed(shell(put(line)), tools))
        expect({ line, denied }).toEqual({ line, denied: false })
      }),
    )
  })

  it('denies the same line if it sets a variable or writes a file', async () => {
    const changed = fc.oneof(
      changing.map((redirection) => `npm test ${redirection}`),
      changing.map((redirection) => `{ npm test; } ${redirection}`),
      changing.map((redirection) => `npm test; ${redirection}`),
      assigning.map((text) => `${text} npm test`),
      assigning.map((text) => `${text}; npm test`),
      fc.constant('npm test "${X:=y}"'),
      fc.constant('for PATH in ./x; do npm test; done'),
      calculating.map((text) => `((${text})); npm test`),
      calculating.map((text) => `npm test $((${text}))`),
      calculating.map((text) => `npm test "$[${text}]" x`),
      calculating.map((text) => `npm test > /dev/null "\${x[${text}]}"`),
      calculating.map((text) => `npm test "\${x:(${text})}"`),
      calculating.map((text) => `npm test "\${x:0:${text}}"`),
      calculating.map((text) => `npm test "\${x/$((${text}))/}"`),
      calculating.map((text) => `for ((${text};;)); do npm test; done`),
      calculating.map((text) => `for ((;;${text})); do npm test; done`),
      calculating.map((text) => `[[ "${text}" -eq 1 ]]; npm test`),
      calculating.map((text) => `[[ -v "x[${text}]" ]]; npm test`),
      fc.constantFrom('"${x@P}"', '${x[1]@P}', '${x[@]@P}', '${(e)x}').map((x) => `npm test ${x}`),
    )
    await fc.assert(
      fc.asyncProperty(changed, place, async (line, [put]) => {
        expect({ line, isAllowed: await isAllowed(shell(put(line)), tools) }).toEqual({
          line,
          isAllowed: false,
        })
      }),
      { numRuns: 500 },
    )
  })
})

describe('a call without a text as its command', () => {
  const isDeniedCall = async (input: unknown): Promise<boolean> =>
    await isGuarded({ ...shell(''), call: readCall('Bash', input) }, 'Bash(tool push:*)')

  it('is denied if its texts are a guarded command, whatever their form', async () => {
    const line = fc.constantFrom('tool push', 'cd x && tool push', 'tool -q push')
    const words = fc.constantFrom(
      ['tool', 'push'],
      ['bash', '-lc', 'tool push'],
      ['env', 'tool', 'push'],
      ['tool push'],
    )
    const leaf = fc.oneof(line, words)
    const wrapped = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('value'), { minLength: 1, maxLength: 1 }),
        fc.dictionary(fc.constantFrom('a', 'b'), tie('value'), { minKeys: 1, maxKeys: 1 }),
      ),
    })).value
    const input = fc.oneof(
      wrapped.map((command) => ({ command })),
      wrapped.map((script) => ({ script, timeout: 3 })),
      line,
    )
    await fc.assert(fc.asyncProperty(input, async (value) => await isDeniedCall(value)))
  })

  it('is allowed if they are another command', async () => {
    expect(
      await isAllowed(
        { ...shell(''), call: readCall('Bash', { command: ['npm', 'test'] }) },
        'Bash(npm test:*)',
      ),
    ).toBe(true)
    for (const command of [['tool', 'pull'], ['ls'], '', null, 7, []]) {
      expect(await isDeniedCall({ command })).toBe(false)
    }
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
