import { describe, expect, it } from 'vitest'
import { findReferences } from '../../src/skill/references.ts'

const targets = (body: string): string[] => findReferences(body).map(({ target }) => target)

describe('references in a body', () => {
  it.each([
    ['See [guide](references/guide.md).', ['references/guide.md']],
    ['See [guide](./references/guide.md#part "Title").', ['references/guide.md']],
    ['![figure](assets/a%20b.png)', ['assets/a b.png']],
    ['[with blanks](<references/a b.md>)', ['references/a b.md']],
    ['[parentheses](references/a_(b).md)', ['references/a_(b).md']],
    ['[forms](FORMS.md) and [other](../other/SKILL.md)', ['FORMS.md', '../other/SKILL.md']],
    ['Run scripts/extract.py now', ['scripts/extract.py']],
    ['Run `scripts/extract.py --all`, then stop.', ['scripts/extract.py']],
    ['```bash\npython scripts/run.py --x\n```', ['scripts/run.py']],
    ['Read references/aws.md.', ['references/aws.md']],
    ['Run scripts/quick-check', ['scripts/quick-check']],
    ['twice scripts/a.sh and scripts/a.sh', ['scripts/a.sh']],
  ])('are found: %j names %j', (body, expected) => {
    expect(targets(body)).toEqual(expected)
  })

  it.each([
    '[web](https://example.org/a.md) [mail](mailto:a@b.c) [anchor](#part) [root](/etc/a.md)',
    '`[code](references/guide.md)`',
    '``a ` [code](references/guide.md)``',
    '~~~markdown\n[code](references/guide.md)\n~~~',
    '```yaml\ninject: references/guide.md\n```',
    'Put `references/<topic>.md`, `assets/*.png` or `scripts/your-script.py` there',
    'my-skill/scripts/a.py and ~/scripts/a.py and $DIR/scripts/a.py and ../scripts/b.py',
    '├── scripts/a.py',
    'the scripts/ and references/ directories',
    'scripts/references/assets',
    '[term](word)',
  ])('are not found in %j', (body) => {
    expect(targets(body)).toEqual([])
  })

  it('are found behind 95 runs of backticks', () => {
    const runs = Array.from({ length: 95 }, (_, at) => '`'.repeat(at + 1)).join(' ')
    const line = `${runs} [a](references/a.md)`.padEnd(5000)
    expect(targets(`${line}\n`.repeat(500))).toEqual(['references/a.md'])
  })

  it('have their line', () => {
    const body = 'a\n\n[x](references/x.md)\n```sh\nscripts/y.sh\n```\n[z](z.md)'
    expect(findReferences(body)).toEqual([
      { target: 'references/x.md', line: 3, kind: 'link' },
      { target: 'scripts/y.sh', line: 5, kind: 'path' },
      { target: 'z.md', line: 7, kind: 'link' },
    ])
  })

  it('are found in linear time in hostile text', () => {
    for (const part of ['[', '](', '](a ', '`', '`a``b', '(', 'scripts/', '> ']) {
      expect(findReferences(part.repeat(1_000_000))).toEqual([])
      expect(targets(`${part.repeat(1000)}\n`.repeat(20)).length).toBeLessThan(2)
    }
  })
})
