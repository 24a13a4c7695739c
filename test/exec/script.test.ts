import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { childEnvironment } from '../../src/exec/process.ts'
import { runScript, type ScriptResult } from '../../src/exec/script.ts'
import { endOrphans, verificationKey } from '../../src/exec/process-group.ts'
import { findScript } from '../../src/exec/find-script.ts'
import { until } from '../patience.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'skillrail-protocol-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

async function run(text: string, given: readonly string[] = []): Promise<ScriptResult> {
  mkdirSync(join(directory, 'skill/scripts'), { recursive: true })
  writeFileSync(join(directory, 'skill/scripts/run.sh'), text, { mode: 0o755 })
  const search = findScript(join(directory, 'skill'), undefined)
  if (search.kind !== 'found') throw new Error(search.kind)
  return runScript({
    script: search.script,
    skillDirectory: join(directory, 'skill'),
    cwd: directory,
    arguments: given,
    input: '{"chain_state":{}}',
    runId: 'r1',
    step: 'chain/step',
    attempt: 2,
    idempotencyKey: 'r1/2:step',
    scratch: join(directory, 'scratch'),
    files: join(directory, 'steps/one'),
    environment: childEnvironment(systemRuntime(), [], {}),
    outputLimit: 65_536,
  })
}

it('speaks the script protocol', async () => {
  const { stdout, output } = await run(
    `#!/bin/sh
pwd; echo "$1|$2"; cat; echo; cat "$SKILLRAIL_STATE"; echo
echo "$SKILLRAIL_SKILL_DIR|$SKILLRAIL_RUN_ID|$SKILLRAIL_STEP|$SKILLRAIL_ATTEMPT|$SKILLRAIL_IDEMPOTENCY_KEY"
echo shared > "$SKILLRAIL_SCRATCH/file"
printf 'output:\\n  status: success\\n  result: from file\\n' > "$SKILLRAIL_OUTPUT"
`,
    ['a b', '$HOME'],
  )
  expect(stdout.split('\n')).toEqual([
    directory,
    'a b|$HOME',
    '{"chain_state":{}}',
    '{"chain_state":{}}',
    `${directory}/skill|r1|chain/step|2|r1/2:step`,
    '',
  ])
  expect(output).toMatchObject({ status: 'success', result: 'from file', evidence: 'exit-code' })
  expect(readdirSync(join(directory, 'scratch'))).toEqual(['file'])
  expect(readdirSync(join(directory, 'steps'))).toEqual([])
})

it('refuses an output file that is irregular or too large', async () => {
  const link = await run('#!/bin/sh\nln -s /etc/passwd "$SKILLRAIL_OUTPUT"\n')
  const fifo = await run('#!/bin/sh\nmkfifo "$SKILLRAIL_OUTPUT"\n')
  const huge = await run('#!/bin/sh\nhead -c 3000000 /dev/zero > "$SKILLRAIL_OUTPUT"\n')
  for (const { output } of [link, fifo, huge]) {
    expect(output.errors[0]?.code).toBe('output-malformed')
  }
})

it('fails if its files cannot be written, and reports that nothing ran', async () => {
  writeFileSync(join(directory, 'scratch'), 'in the way')
  const { output, unwritable } = await run('#!/bin/sh\necho fine\n')
  expect(output).toMatchObject({ status: 'failure', errors: [{ code: 'not-started' }] })
  expect(unwritable).toMatch(/^its files in .*steps cannot be written: /)
})

it('follows the exit code if the script replaced the directory of its files', async () => {
  const script = 'd=$(dirname "$SKILLRAIL_STATE"); rm -r "$d"; echo > "$d"; echo fine'
  const { output, unwritable } = await run(`#!/bin/sh\n${script}\n`)
  expect(output).toMatchObject({ status: 'success', result: 'fine' })
  expect(unwritable).toBe(undefined)
})

it.runIf(process.platform === 'linux')(
  'finds processes that an execution left behind, and ends them',
  async () => {
    const leaves = "setsid sh -c 'echo > left; exec sleep 60' >/dev/null 2>&1 & echo $!"
    const { stdout } = await run(`#!/bin/sh\n${leaves}\nuntil [ -e left ]; do sleep 0.01; done\n`)
    expect(endOrphans(new Set(['r1/other']))).toBe(0)
    expect(stdout.trim()).toMatch(/^\d+$/)
    expect(endOrphans(new Set(['r1/2:step']))).toBe(1)
  },
)

it.runIf(process.platform === 'linux')(
  'finds processes that its verification left behind',
  async () => {
    const key = `${directory}/1:a`
    const env = { SKILLRAIL_IDEMPOTENCY_KEY: verificationKey(key) }
    const left = spawn('sleep', ['60'], { env, stdio: 'ignore' })
    await once(left, 'spawn')
    await until(() => endOrphans(new Set([key])) === 1)
    await once(left, 'exit')
  },
)
