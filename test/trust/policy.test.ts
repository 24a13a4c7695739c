import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { TrustStore } from '../../src/trust/store.ts'
import { readTrustPolicy } from '../../src/trust/skill-trust.ts'
import { runtimeIn, temporaryDirectory, writeFiles } from './_project.ts'

it('asks, and trusts no path and no workspace by default', () => {
  const workspace = temporaryDirectory()
  expect(readTrustPolicy(runtimeIn(workspace), { workspace })).toEqual({
    policy: { workspace, workspaceTrust: 'ask', trustedPaths: [], acceptance: undefined },
    diagnostics: [],
  })
})

it('trusts the workspace if the caller vouches for it', () => {
  const workspace = temporaryDirectory()
  const options = { workspace, workspaceTrust: 'trusted' } as const
  expect(readTrustPolicy(runtimeIn(workspace), options).policy.workspaceTrust).toBe('trusted')
})

it('selects the acceptance of this workspace', async () => {
  const root = temporaryDirectory()
  const runtime = runtimeIn(root)
  const store = new TrustStore(runtime)
  for (const name of ['a', 'b', 'c']) {
    mkdirSync(join(root, name))
    await store.accept(join(root, name), [], { pinned: name === 'b' })
  }
  const { policy } = readTrustPolicy(runtime, { workspace: join(root, 'b') })
  expect(policy.acceptance).toMatchObject({ workspace: join(root, 'b'), pinned: true })
  expect(store.find(join(root, 'b'))?.workspace).toBe(join(root, 'b'))
  expect(store.find(join(root, 'd'))).toBeUndefined()
})

it('finds the acceptance of a deleted workspace by its path', () => {
  const root = temporaryDirectory()
  const workspace = join(root, 'gone')
  expect(readTrustPolicy(runtimeIn(root), { workspace }).policy.workspace).toBe(workspace)
})

it('expands trusted paths below the home, and leaves out paths that lead nowhere', () => {
  const root = temporaryDirectory()
  const runtime = runtimeIn(root)
  mkdirSync(join(runtime.home, 'mine'))
  mkdirSync(join(root, '~'))
  const trustedPaths = ['~', '~/mine', join(root, '~'), join(root, 'missing'), '~/missing']
  const { policy, diagnostics } = readTrustPolicy(runtime, { workspace: root, trustedPaths })
  expect(policy.trustedPaths).toEqual([runtime.home, join(runtime.home, 'mine'), join(root, '~')])
  expect(diagnostics).toEqual([])
})

it.each(['skills', './skills', '~other/skills', ''])(
  'ignores the relative path %j and reports it',
  (path) => {
    const workspace = temporaryDirectory()
    mkdirSync(join(workspace, 'skills'))
    const reading = readTrustPolicy(runtimeIn(workspace), { workspace, trustedPaths: [path] })
    expect(reading.policy.trustedPaths).toEqual([])
    expect(reading.diagnostics).toEqual([
      {
        code: 'trusted-path-relative',
        severity: 'warning',
        message: `the trusted path "${path}" is relative and was ignored`,
        path: 'skills.trustedPaths',
        hint: 'Give an absolute path or one that begins with ~/.',
      },
    ])
  },
)

it('trusts no workspace if the record is damaged, and reports that first', () => {
  const workspace = temporaryDirectory()
  const runtime = runtimeIn(workspace)
  const { path } = new TrustStore(runtime)
  writeFiles('/', { [path]: '{' })
  const { policy, diagnostics } = readTrustPolicy(runtime, { workspace, trustedPaths: ['x'] })
  expect(policy.acceptance).toBeUndefined()
  expect(diagnostics.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
    'error trust-file-corrupt',
    'warning trusted-path-relative',
  ])
})
