import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createCapture } from '../../../src/exec/process.ts'
import { findScript } from '../../../src/exec/find-script.ts'
import { noGrants } from '../../../src/exec/sandbox/grants.ts'
import { runConfined } from '../../../src/exec/sandbox/open-sandbox.ts'
import { runScript } from '../../../src/exec/script.ts'
import type { Places, Sandbox, SandboxRequest } from '../../../src/exec/sandbox/sandbox.ts'
import { sandboxLimits, superviseLimits } from '../../../src/exec/sandbox/limits.ts'
import { bubblewrapPlaces, bubblewrapSandbox } from '../../../src/exec/sandbox/bubblewrap.ts'

let base: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-confined-')))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const nothing = createCapture(0).finish()
const places: Places = bubblewrapPlaces

/** Notes what it was asked for, and writes the output file as a script would. */
function recorder(output: string): { sandbox: Sandbox; asked: SandboxRequest[] } {
  const asked: SandboxRequest[] = []
  const sandbox: Sandbox = {
    name: 'bubblewrap',
    async run(request) {
      asked.push(request)
      if (request.output !== undefined) writeFileSync(request.output, output)
      return { end: { kind: 'exit', code: 0 }, stdout: nothing, stderr: nothing }
    },
  }
  return { sandbox, asked }
}

it.each([
  [{ NO_COLOR: '1' }, {}, '1'],
  [{ NO_COLOR: '1' }, { FORCE_COLOR: '1' }, undefined],
  [{}, {}, undefined],
])(
  'a script gets NO_COLOR from %j with the grants %j as %j',
  async (environment, granted, seen) => {
    writeFileSync(join(base, 'tool.mjs'), '')
    const search = findScript(base, 'tool.mjs')
    if (search.kind !== 'found') throw new Error('no script')
    const { sandbox, asked } = recorder('')
    await runConfined(
      { sandbox, grants: { ...noGrants, environment: granted } },
      {
        script: search.script,
        skillDirectory: base,
        arguments: [],
        ambient: environment,
        stdin: '',
        outputLimit: 1000,
        variables: () => ({}),
      },
    )
    expect(asked[0]?.environment(places)['NO_COLOR']).toBe(seen)
  },
)

it('a script gets only paths that exist inside, and no variable from outside', async () => {
  writeFileSync(join(base, 'tool.mjs'), '')
  const search = findScript(base, 'tool.mjs')
  if (search.kind !== 'found') throw new Error('no script')
  const { sandbox, asked } = recorder('{"status":"success","result":"done"}')
  const { output } = await runScript({
    script: search.script,
    skillDirectory: base,
    cwd: '/project',
    arguments: ['one'],
    input: '{}',
    runId: 'run',
    step: 'a',
    attempt: 1,
    idempotencyKey: 'run/a',
    scratch: join(base, 'scratch'),
    files: join(base, 'files'),
    environment: { HOME: '/home/u', CREDENTIAL: 'x', LANG: 'C.UTF-8', LC_ALL: 'C' },
    outputLimit: 1000,
    confinement: { sandbox, grants: noGrants },
  })
  expect(output).toMatchObject({ status: 'success', result: 'done' })
  const [request] = asked
  expect(request?.command(places)).toEqual([places.node, '/sandbox/skill/tool.mjs', 'one'])
  expect(request?.environment(places)).toEqual({
    LANG: 'C.UTF-8',
    LC_ALL: 'C',
    PYTHONDONTWRITEBYTECODE: '1',
    SKILLRAIL_SKILL_DIR: '/sandbox/skill',
    SKILLRAIL_RUN_ID: 'run',
    SKILLRAIL_STEP: 'a',
    SKILLRAIL_ATTEMPT: '1',
    SKILLRAIL_IDEMPOTENCY_KEY: 'run/a',
    SKILLRAIL_STATE: '/sandbox/state.json',
    SKILLRAIL_SCRATCH: '/tmp/scratch',
    SKILLRAIL_OUTPUT: '/sandbox/output',
  })
  expect([join(base, 'files.output'), join(base, 'files.state.json')].map(existsSync)).toEqual([
    false,
    false,
  ])
})

it('a script of a deleted skill is reported as not started', async () => {
  const { sandbox, asked } = recorder('')
  const result = await runConfined(
    { sandbox, grants: noGrants },
    {
      script: { path: join(base, 'gone/run'), relative: 'run', file: 'sh', args: [] },
      skillDirectory: join(base, 'gone'),
      arguments: [],
      ambient: {},
      variables: () => ({}),
      outputLimit: 10,
    },
  )
  expect([result.end.kind, asked.length]).toEqual(['not-started', 0])
})

it.each([
  [
    '#!/bin/sh\r\n',
    127,
    { kind: 'not-started', message: expect.stringContaining('carriage return') },
  ],
  ['#!/none/such\n', 127, { kind: 'not-started', message: expect.stringContaining('/none/such') }],
  ['#!/bin/sh\n', 127, { kind: 'exit', code: 127 }],
  ['#!/none/such\n', 1, { kind: 'exit', code: 1 }],
])(
  'the missing program of the script %j is named if it ends with %i',
  async (text, code, expected) => {
    const path = join(base, 'run')
    writeFileSync(path, text, { mode: 0o755 })
    const sandbox: Sandbox = {
      name: 'bubblewrap',
      run: async () => ({ end: { kind: 'exit', code }, stdout: nothing, stderr: nothing }),
    }
    const { end } = await runConfined(
      { sandbox, grants: noGrants },
      {
        script: { path, relative: 'run', file: path, args: [] },
        skillDirectory: base,
        arguments: [],
        ambient: {},
        variables: () => ({}),
        outputLimit: 10,
      },
    )
    expect(end).toEqual(expected)
  },
)

it('a value that would begin another option of bubblewrap starts nothing', async () => {
  const sandbox = bubblewrapSandbox({
    program: '/nowhere/bwrap',
    processor: 'x64',
    lastUserNamespace: true,
  })
  const { end } = await sandbox.run({
    skillDirectory: base,
    grants: noGrants,
    command: () => ['true'],
    environment: () => ({ NAME: 'value\0--share-net' }),
    outputLimit: 10,
  })
  expect(end).toMatchObject({ kind: 'not-started', message: expect.stringMatching(/NUL/) })
})

it('a program that prints too much is ended, and the caller’s abort keeps its meaning', async () => {
  const request: SandboxRequest = {
    skillDirectory: base,
    grants: noGrants,
    command: () => [],
    environment: () => ({}),
    outputLimit: 100,
  }
  const ended = await superviseLimits(request, async (supervised) => {
    supervised.onOutput?.(Buffer.alloc(sandboxLimits.printedBytes), 'stdout')
    expect(supervised.signal?.aborted).toBe(false)
    supervised.onOutput?.(Buffer.alloc(8), 'stderr')
    expect(supervised.signal?.aborted).toBe(true)
    return { end: { kind: 'aborted' }, stdout: nothing, stderr: nothing }
  })
  expect(ended.end).toMatchObject({ kind: 'limit', message: expect.stringMatching(/printed/) })
  const aborted = await superviseLimits({ ...request, signal: AbortSignal.abort() }, async () => ({
    end: { kind: 'aborted' },
    stdout: nothing,
    stderr: nothing,
  }))
  expect(aborted.end).toEqual({ kind: 'aborted' })
})
