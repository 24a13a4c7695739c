import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchToolCall } from '../../src/trigger/tool-call.ts'

async function fires(pattern: string, command: string, require = true): Promise<boolean> {
  const when = { kind: 'command', pattern, require } as const
  const trigger = { match: `command: ${pattern}`, inject: 'a.md', line: 1, when }
  const skill = { name: 's', directory: '/s', path: '/s/SKILL.md', triggers: [trigger] }
  const call = { kind: 'shell', paths: [], command } as const
  return (await matchToolCall(call, [skill], { cwd: '/', root: '/' })).length > 0
}

/** Lines that run the command, and lines that only mention it. */
const runs: readonly ((command: string) => string)[] = [
  (c) => c,
  (c) => `  ${c.replaceAll(' ', '   ')}  `,
  (c) => `CI=1 ${c}`,
  (c) => `A="x y" B=2 ${c} > log 2>&1`,
  (c) => `( ${c})`,
  (c) => `cd x && { ${c}; }`,
  (c) => `false || ${c} &`,
  (c) => `yes | ${c}`,
  (c) => `if x; then ${c}; fi`,
  (c) => `while x; do ${c}; done`,
  (c) => `for f in *; do ${c} "$f"; done`,
  (c) => `case $x in a|b) ${c};; esac`,
  (c) => `f() { ${c}; }; f`,
  (c) => `! ${c}`,
  (c) => `time ${c}`,
  (c) => `sudo -E -u bob ${c}`,
  (c) => `env -u X A=1 ${c}`,
  (c) => `nohup nice -n 5 ${c}`,
  (c) => `timeout 5m ${c}`,
  (c) => `echo x | xargs -n1 ${c}`,
  (c) => `command ${c}`,
  (c) => `exec ${c}`,
  (c) => `bash -c '${c}'`,
  (c) => `sh -ec "x; ${c}"`,
  (c) => `echo "$(${c})"`,
  (c) => `x=\`${c}\``,
  (c) => `diff <(${c}) y`,
  (c) => c.replaceAll(' ', ' \\\n '),
  (c) => `/usr/bin/${c}`,
  (c) => `\\${c}`,
  (c) => c.replaceAll(/\S+/g, '"$&"'),
  (c) => `bash <<'X'\n${c}\nX`,
]

const mentions: readonly ((command: string) => string)[] = [
  (c) => `echo "a; ${c}"`,
  (c) => `echo '${c}'`,
  (c) => `printf '%s\\n' "x && ${c}"`,
  (c) => `git commit -m "Describe: ${c}"`,
  (c) => `git log --grep "${c}"`,
  (c) => `cat <<'X' > notes\n${c}\nX`,
  (c) => `cat <<X\n$HOME; ${c}\nX`,
  (c) => `# ; ${c}`,
  (c) => `ls # then ${c}`,
  (c) => `command -v ${c}`,
  (c) => `x="${c}"`,
  (c) => `grep -r "^${c}" .`,
  (c) => `case $x in "${c}") ls;; esac`,
  (c) => `[[ $x == "${c}" ]]`,
]

const commands = ['git push', 'terraform apply', 'npm run build', 'rm -rf', 'kubectl delete pod']

describe('a trigger on a command', () => {
  it.each(commands)('fires on every line that runs `%s`', async (command) => {
    for (const line of runs) {
      const written = line(command)
      expect([written, await fires(`^${command}`, written)]).toEqual([written, true])
    }
  })

  it.each(commands)('does not fire on a line that only mentions `%s`', async (command) => {
    const written = mentions.map((line) => line(command))
    for (const line of written) {
      expect([line, await fires(`^${command}`, line)]).toEqual([line, false])
    }
    for (const line of written.filter((text) => !text.startsWith('command -v'))) {
      expect([line, await fires(command, line)]).toEqual([line, false])
    }
  })

  it.each([
    ['^git push', 'git -C x push origin'],
    ['^git push', 'git --no-pager -c a.b=c --git-dir=/x push'],
    ['^npm run build', 'npm --prefix x run --silent build'],
    ['^docker push', 'docker --context c push image'],
    ['^unlisted deploy (prod|live)', 'unlisted --region eu deploy -v --wait 5 live'],
    ['^git +push', 'git -C x push'],
    ['^git[ ]push', 'git -C x push'],
    ['^git\\s+push', 'git -C x push'],
    ['^git[[:space:]]+push', 'git -C x  push'],
    ['git push.*--force', 'git -C x push origin -f --force'],
    ['^git -C', 'git -C x status'],
    ['^sudo ', 'sudo ls'],
    ['^CI=1 npm', 'CI=1 npm test'],
    ['^/opt/bin/tool', '/opt/bin/tool x'],
    ['> */etc/', 'echo x >/etc/hosts'],
    ['^git push$', 'git push > log'],
    ['--force', 'git push --force'],
  ])('fires with %j on %j', async (pattern, line) => {
    expect(await fires(pattern, line)).toBe(true)
  })

  it.each([
    ['^git push', 'git log --grep push'],
    ['^git push', 'git stash push'],
    ['^git push', 'git commit -m push'],
    ['^git push', 'git --no-pager log push'],
    ['^git push', 'git -c push.default=simple status'],
    ['^git push', 'git --exec-path=x log push'],
    ['^npm run build', 'npm run test build'],
    ['^git push', 'git -C pushed status'],
    ['^git push', 'legit push'],
    ['^git push$', 'git push origin'],
  ])('does not fire with %j on %j', async (pattern, line) => {
    expect(await fires(pattern, line)).toBe(false)
  })

  it('searches an incomprehensible line as text if the trigger is required', async () => {
    for (const line of [
      'if ($x) { git push }',
      'git push "',
      "echo 'git push' | sh",
      '& git push',
    ]) {
      expect([line, await fires('^git push', line, true)]).toEqual([line, true])
    }
    for (const line of ["echo 'git push' | sh", '$X "git push"']) {
      expect([line, await fires('^git push', line, false)]).toEqual([line, false])
    }
  })

  it('reads options in the same way for plain text and for a pattern', async () => {
    const word = fc.constantFrom(
      'git',
      'push',
      'log',
      '-C',
      '-v',
      '--no-pager',
      '--dir',
      '--a=b',
      'pushed',
    )
    const words = fc.array(word, { maxLength: 7 })
    await fc.assert(
      fc.asyncProperty(words, fc.constantFrom('', '^'), async (rest, anchor) => {
        const line = ['git', ...rest].join(' ')
        for (const plain of [
          `${anchor}git push`,
          `${anchor}git push log`,
          `${anchor}git log push`,
        ]) {
          const pattern = plain.replaceAll('g', '[g]')
          expect([line, plain, await fires(plain, line)]).toEqual([
            line,
            plain,
            await fires(pattern, line),
          ])
        }
      }),
      { numRuns: 300 },
    )
  })

  it('fires on a command wherever it is nested, and not on its name as an argument', async () => {
    const word = fc.constantFrom('alpha', 'beta', 'gamma', 'delta')
    const wrappers = fc.array(fc.constantFrom(...runs.slice(15, 22)), { maxLength: 3 })
    const compounds = fc.array(fc.constantFrom(...runs.slice(4, 10), ...runs.slice(11, 13)), {
      maxLength: 3,
    })
    const nesting = fc.tuple(wrappers, compounds).map((all) => all.flat())
    await fc.assert(
      fc.asyncProperty(word, word, nesting, async (first, second, around) => {
        const line = around.reduce((text, wrap) => wrap(text), `${first} ${second}`)
        expect(await fires(`^${first} ${second}( |$)`, line)).toBe(true)
        const quoted = around.reduce((text, wrap) => wrap(text), `ls '${first} ${second}'`)
        expect(await fires(`${first} ${second}`, quoted, false)).toBe(false)
      }),
      { numRuns: 300 },
    )
  })
})
