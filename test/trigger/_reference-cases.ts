import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const file = resolve(process.env['SKILLRAIL_CASES'] ?? '../shared/cases', 'inject-context.json')

/** One run of the reference script. */
export interface ReferenceCase {
  name: string
  frontmatter: string
  prompt: string
  expected_stdout: string | null
}

interface CaseFile {
  fixture: Record<string, string>
  cases: ReferenceCase[]
}

/** The recorded runs, or undefined where they are not on this machine. */
export const referenceCases: CaseFile | undefined = existsSync(file) ? read() : undefined

/** A skill like the one that the runs were made on, for machines that do not have them. */
const ownFixture: CaseFile['fixture'] = {
  'references/a.md': 'REF-A\n',
  'references/b.md': 'REF-B\n',
  'references/nul.bin': 'one\0two\n',
  'references/link.md': 'symlink -> ../../other/secret.md',
  '../other/secret.md': 'not for this skill\n',
}

/** The skill that the runs were made on, in a new directory: its path. */
export function makeFixture(frontmatter: string): string {
  const root = mkdtempSync(join(tmpdir(), 'skillrail-case-'))
  const skill = join(root, 'skills/t')
  for (const [path, content] of Object.entries(referenceCases?.fixture ?? ownFixture)) {
    const target = join(skill, path)
    mkdirSync(dirname(target), { recursive: true })
    if (content.startsWith('symlink -> ')) symlinkSync(content.slice(11), target)
    else writeFileSync(target, content)
  }
  writeFileSync(join(skill, 'SKILL.md'), frontmatter)
  return skill
}

function read(): CaseFile {
  const loaded: CaseFile = JSON.parse(readFileSync(file, 'utf8'))
  return {
    ...loaded,
    cases: loaded.cases.map((one) => ({ ...one, prompt: fullPrompt(one.prompt) })),
  }
}

/** Long prompts are described, not stored. */
function fullPrompt(prompt: string): string {
  const length = Number(/^<generated: (\d+) chars/.exec(prompt)?.[1])
  if (!(length > 0)) return prompt
  const isLines = prompt.includes('filler line')
  const end = isLines ? 'omega' : ' needle'
  const filler = isLines ? 'filler line\n' : 'x'
  return filler.repeat(Math.ceil(length / filler.length)).slice(0, length - end.length) + end
}
