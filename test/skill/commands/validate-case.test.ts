import { expect, it } from 'vitest'
import { fixture } from '../../library/_fixture.ts'
import { runInProcess } from '../../run-in-process.ts'

interface Verdict {
  path: string
  valid: boolean
  diagnostics: { code: string }[]
}

it.each([
  ['the same text', ['Deploy', 'deploy'], ''],
  ['other texts', ['DEPLOY', 'Deploy', 'deploy'], 'other'],
])(
  'folders that a case-insensitive checkout merges are never all valid: %s',
  async (_, folders, text) => {
    const place = fixture()
    for (const folder of folders) {
      const file = `---\nname: deploy\ndescription: Deploys.\n---\nBody ${text && folder}\n`
      place.write({ [`project/.claude/skills/${folder}/SKILL.md`]: file })
    }
    const options = { cwd: place.project, home: place.home }
    const { code, stdout } = await runInProcess(['validate', '--json'], options)
    const { skills }: { skills: Verdict[] } = JSON.parse(stdout)
    expect(code).toBe(1)
    const valid = skills.filter((skill) => skill.valid).map(({ path }) => path)
    expect(valid).toEqual(text === '' ? ['.claude/skills/deploy/SKILL.md'] : [])
    const codes = new Set(skills.flatMap(({ diagnostics }) => diagnostics.map((one) => one.code)))
    expect(codes).toContain('name-directory-mismatch')
    expect(codes.has('skill-conflict')).toBe(text !== '')
  },
)
