import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lockedProject } from './_locked-project.ts'
import { runInProcess } from '../run-in-process.ts'

it('the hook injects no text of a skill that drifted, even if the project configures its path', async () => {
  const { cli, home, workspace, write } = lockedProject()
  const head = 'name: given\ndescription: Given. Use when asked to.'
  const triggers = 'triggers:\n  - match: ship it\n    inject: guide.md'
  write('elsewhere/given/SKILL.md', `---\n${head}\n${triggers}\n---\nDo it.\n`)
  write('elsewhere/given/guide.md', 'On Fridays only.\n')
  write('.skillrail/config.json', JSON.stringify({ skills: { paths: ['elsewhere'] } }))
  mkdirSync(join(home, '.config/skillrail'), { recursive: true })
  const own = JSON.stringify({ skills: { trustedPaths: [workspace] } })
  writeFileSync(join(home, '.config/skillrail/config.json'), own)
  const hook = async (): Promise<string> => {
    const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'ship it' }
    const stdin = JSON.stringify({ session_id: 's', cwd: workspace, ...prompt })
    return (await runInProcess(['hooks', 'run', 'claude'], { cwd: workspace, home, stdin })).stdout
  }
  await cli('trust', '--lock', '--yes')
  expect(await hook()).toContain('On Fridays only.')
  write('elsewhere/given/guide.md', 'Never look.\n')
  expect(await hook()).not.toContain('Never look.')
  await cli('trust', '--lock', '--yes')
  expect(await hook()).toContain('Never look.')
})
