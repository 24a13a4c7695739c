import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asAnother, isThereAnother, withoutAnother } from './_other-user.ts'
import { makeProject, type TestProject } from './_project.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
  mkdirSync(join(project.directory, '.skillrail'), { recursive: true })
  chmodSync(join(project.directory, '.skillrail'), 0o777)
})
afterEach(() => {
  if (existsSync(runs())) chmodSync(runs(), 0o755)
  project.remove()
})

const runs = (): string => project.runs
const chain = { metadata: ['chain: [a]', 'cleanup_after: true'] }
const readOnly = 'cd "$SKILLRAIL_SCRATCH"; mkdir -p a/b; echo > a/b/c; chmod 500 a/b a'

describe.skipIf(!isThereAnother)(`the files of a run${withoutAnother}`, () => {
  it('are removed even if a step has made them read-only', () => {
    project.write('main', chain)
    project.write('a', { run: readOnly })
    expect(asAnother(project, ['run', 'main'])).toMatchObject({ status: 0 })
    expect(readdirSync(runs())).toEqual([expect.stringMatching(/\.jsonl$/)])
  })

  it('are removed with a pruned run', () => {
    project.write('a', { run: readOnly })
    asAnother(project, ['run', 'a'])
    expect(asAnother(project, ['runs', 'prune', '--keep', '0'])).toMatchObject({ status: 0 })
    expect(readdirSync(runs())).toEqual([])
  })

  it.each(['run', 'chain start'])(
    'are reported for %s if they remain, without another exit code',
    (words) => {
      project.write('main', chain)
      project.write('a', { run: 'chmod 500 "$SKILLRAIL_SCRATCH/../.."' })
      const { status, stderr } = asAnother(project, [...words.split(' '), 'main'])
      expect([status, stderr]).toEqual([0, expect.stringContaining('run-files-left')])
      expect(stderr).toContain('could not be removed: permission is denied')
    },
  )

  it('are not removed through a link that replaced them', () => {
    const script =
      'mkdir -p mine/deep; chmod 550 mine/deep mine; cd "$SKILLRAIL_SCRATCH/../.."; ' +
      'rm -r $SKILLRAIL_RUN_ID; ln -s ../../mine $SKILLRAIL_RUN_ID; chmod 500 .'
    project.write('main', chain)
    project.write('a', { run: script })
    asAnother(project, ['run', 'main'])
    expect(statSync(join(project.directory, 'mine')).mode & 0o777).toBe(0o550)
    expect(statSync(join(project.directory, 'mine/deep')).mode & 0o777).toBe(0o550)
  })
})
