import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeFixture } from '../hooks/_fixture.ts'
import { runInProcess } from '../run-in-process.ts'

async function acceptedOverlay(...options: string[]) {
  const { ask, skill, write, project, home } = makeFixture()
  skill('saw', [])
  write('project/.skillrail/triggers.yaml', 'saw:\n  - match: ^/saw\n    inject: rules/saw.md\n')
  write('project/.skillrail/rules/saw.md', 'ACCEPTED RULES')
  write('project/.skillrail/rules/notes.md', 'NOTES')
  const trust = (...more: string[]) => runInProcess(['trust', ...more], { cwd: project, home })
  expect((await trust('--yes', ...options)).code).toBe(0)
  let asked = 0
  const injected = async () => {
    const { stdout } = await ask('claude', '/saw x', { payload: { session_id: `s${asked++}` } })
    return /[A-Z]+ RULES/.exec(stdout)?.[0]
  }
  expect(await injected()).toBe('ACCEPTED RULES')
  return { trust, injected, write, project }
}

describe("the text of a project's overlay", () => {
  it('may change after the acceptance, like the text of a skill', async () => {
    const { injected, write, trust } = await acceptedOverlay()
    write('project/.skillrail/rules/saw.md', 'OTHER RULES')
    expect(await injected()).toBe('OTHER RULES')
    expect((await trust('--dry-run')).stdout).toContain('nothing that can execute has changed')
  })

  it('is compared in a pinned workspace, and injected again after an acceptance', async () => {
    const { injected, write, trust } = await acceptedOverlay('--pin')
    write('project/.skillrail/rules/notes.md', 'OTHER NOTES')
    expect(await injected()).toBe('ACCEPTED RULES')
    write('project/.skillrail/rules/saw.md', 'OTHER RULES')
    expect(await injected()).toBeUndefined()
    const { stdout } = await trust('--dry-run')
    expect(stdout).toContain('-ACCEPTED RULES')
    expect(stdout).toContain('+OTHER RULES')
    write('project/.skillrail/rules/saw.md', 'ACCEPTED RULES')
    expect(await injected()).toBe('ACCEPTED RULES')
    write('project/.skillrail/rules/saw.md', 'OTHER RULES')
    expect((await trust('--yes')).code).toBe(0)
    expect(await injected()).toBe('OTHER RULES')
  })

  it('is compared in a pinned workspace if another kind of file replaces the reference', async () => {
    const { injected, write, project } = await acceptedOverlay('--pin')
    rmSync(join(project, '.skillrail/rules/saw.md'))
    write('project/.skillrail/rules/saw.md/inner.md', 'OTHER RULES')
    expect(await injected()).toBeUndefined()
  })
})
