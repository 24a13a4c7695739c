import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mayName } from '../../src/rail/plain-lines.ts'
import { readForGuards } from '../../src/rail/shell-calls.ts'

// Runs lines in bash, where `git` notes whether it was called with `push`. A guard must know each such line.

function mayRun(line: string, pattern: string): boolean {
  return readForGuards(line, [pattern]).mayRun(pattern)
}

/** Programs that run a command line which they get somehow. The guard knows none of these ways. */
const programs = {
  git: [
    'for word; do',
    '  case $word in',
    '    core.editor=*) GIT_EDITOR=${word#*=} ;;',
    '    alias.x=!*) sh -c "${word#*!}" ;;',
    '    -*) ;;',
    '    push) : > "$PUSHED"; exit ;;',
    '    commit) sh -c "$GIT_EDITOR"; exit ;;',
    '    *) exit ;;',
    '  esac',
    'done',
  ],
  runner: ['for word; do case $word in *CMD=*) sh -c "${word#*CMD=}" ;; esac; done'],
  feed: ['sh'],
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillrail-guards-'))
  mkdirSync(join(folder, 'bin'))
  for (const [name, lines] of Object.entries(programs)) {
    const text = ['#!/bin/sh', ...lines, ''].join('\n')
    writeFileSync(join(folder, 'bin', name), text, { mode: 0o755 })
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

function pushesInBash(line: string): boolean {
  const pushed = join(folder, 'pushed')
  rmSync(pushed, { force: true })
  const env = { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, PUSHED: pushed }
  spawnSync('bash', ['-c', line], { env, cwd: folder, input: '', timeout: 10_000 })
  return existsSync(pushed)
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A here-document whose end is not a line of the text. */
const fed = (text: string, rest = ''): string => {
  const end = `END${text.length}`
  return `<<'${end}'${rest}\n${text}\n${end}\n`
}

/** Spellings of the call, some of which only bash completes. */
const push = fc.constantFrom<string>(
  'git push',
  'git push origin main',
  'git -q --no-pager push',
  '"git" pu\\sh',
  "g''it $'pu\\x73h'",
  '$(echo git) push',
  'git `echo push`',
  'x=it; g$x push',
  'x=g; ${x}it push',
  'x=i; g"${x}"t push',
  'g$(echo i)t push',
  'g`echo i`t push',
  '${x:-git} push',
  'x=git; $x push',
  'x="git push"; $x',
  'x=(git push); "${x[@]}"',
  '{git,push}',
  '{g"it",push}',
  'g{it,it} push; {git,-q,push}',
  '{{git,push},a}',
  '{g..g}it push',
  'git pu{s,}h',
  'git {-q,{push,a}}',
)

/** Ways to run a line. In each of them, some part of the shell gives the line to another part. */
const ways: readonly ((line: string) => string)[] = [
  (line) => `( ${line}\n)`,
  (line) => `{ ${line}\n} > out 2>&1`,
  (line) => `if ${line}\nthen :; fi < /dev/null`,
  (line) => `while ${line}\nfalse; do :; done`,
  (line) => `f() { ${line}\n}; f`,
  (line) => `case x in x) ${line}\n;; esac`,
  (line) => `: "$( ${line}\n)"`,
  (line) => `: > "$( ${line}\n)out"`,
  (line) => `: <<< "$( ${line}\n)"`,
  (line) => `x[$( ${line}\necho 1)]=2`,
  (line) => `[[ -n $( ${line}\n) ]]`,
  (line) => `coproc { ${line}\n}; wait`,
  (line) => `sh -c ${quoted(line)}`,
  (line) => `A=1 bash -c ${quoted(line)} 2> /dev/null`,
  (line) => `eval ${quoted(line)}`,
  (line) => `{sh,-c,${quoted(line)}}`,
  (line) => `trap ${quoted(line)} EXIT`,
  (line) => `bash ${fed(line)}`,
  (line) => `{ bash; } ${fed(line)}`,
  (line) => `( bash ) ${fed(line)}`,
  (line) => `{ { bash; }; } ${fed(line)}`,
  (line) => `if true; then bash; fi ${fed(line)}`,
  (line) => `for i in 1; do bash; done ${fed(line)}`,
  (line) => `case x in x) bash ;; esac ${fed(line)}`,
  (line) => `{ bash; } <<< ${quoted(line)}`,
  (line) => `{ env -u X bash -s; } 3>&1 ${fed(line, ' 2> /dev/null')}`,
  (line) => `f() { bash; }; f ${fed(line)}`,
  (line) => `f() { bash; } ${fed(line)}f`,
  (line) => `cat() { bash; }; cat > out ${fed(line)}`,
  (line) => `apply_patch() { bash; }; apply_patch ${fed(line)}`,
  (line) => `shopt -s expand_aliases\nalias cat=bash\ncat > out ${fed(line)}`,
  (line) => `exec 3${fed(line)}bash <&3`,
  (line) => `exec ${fed(line)}bash`,
  (line) => `bash < <(cat ${fed(line)})`,
  (line) => `{ cat ${fed(line, ' > >(bash)')}} | cat`,
  (line) => `{ cat ${fed(line, ' 3> >(bash) >&3')}} | cat`,
  (line) => `{ cat ${fed(line, ' 3> >(bash) > /dev/fd/3')}} | cat`,
  (line) => `{ tee ${fed(line, ' > out >(bash)')}} | cat`,
  (line) => `exec > >(bash)\ncat ${fed(line)}exec >&-\nwait`,
  (line) => `cat ${fed(line, ' | feed')}`,
  (line) => `{ cat; } ${fed(line, ' | feed')}`,
  (line) => `{ cat ${fed(line)}} | feed`,
  (line) => `tee out ${fed(line, ' | { feed; }')}`,
  (line) => `GIT_EDITOR=${quoted(line)} git commit`,
  (line) => `export GIT_EDITOR=${quoted(line)}; git commit`,
  (line) => `declare -x GIT_EDITOR\nGIT_EDITOR=${quoted(line)}\ngit commit`,
  (line) => `env GIT_EDITOR=${quoted(line)} git commit`,
  (line) => `for GIT_EDITOR in ${quoted(line)}; do export GIT_EDITOR; git commit; done`,
  (line) => `git -c core.editor=${quoted(line)} commit`,
  (line) => `git -c alias.x=${quoted(`!${line}`)} x`,
  (line) => `runner CMD=${quoted(line)} now`,
  (line) => `runner --set CMD=${quoted(line)}`,
  (line) => `runner --set=CMD=${quoted(line)}`,
  (line) => `X=${quoted(line)}; eval "$X"`,
  (line) => `X=(${quoted(line)}); sh -c "\${X[0]}"`,
  (line) => `X=${quoted(`$(${line}\n)`)}; : "\${X@P}"`,
  (line) => `while IFS= read -r -d '' X || [ -n "$X" ]; do eval "$X"; break; done ${fed(line)}`,
]

const line = fc
  .tuple(push, fc.array(fc.nat(ways.length - 1), { minLength: 1, maxLength: 3 }))
  .map(([command, chosen]) => chosen.reduce((inner, at) => ways[at]?.(inner) ?? inner, command))

it('knows each way to run a line in bash, and each spelling', () => {
  const spellings = fc.sample(push, { seed: 1, numRuns: 200 })
  const lines = [...new Set([...spellings, ...ways.map((way) => way('git push'))])]
  for (const one of lines) {
    expect({ line: one, pushes: pushesInBash(one) }).toEqual({ line: one, pushes: true })
    expect({ line: one, mayRun: mayRun(one, 'git push:*') }).toEqual({ line: one, mayRun: true })
  }
}, 120_000)

it('denies every line with which bash calls the guarded command', () => {
  let pushes = 0
  fc.assert(
    fc.property(line, (text) => {
      if (!pushesInBash(text)) return
      pushes++
      const denied = mayName(text, 'git push:*') && mayRun(text, 'git push:*')
      expect({ text, denied }).toEqual({ text, denied: true })
    }),
    { numRuns: 150 },
  )
  expect(pushes).toBeGreaterThan(75)
}, 240_000)
