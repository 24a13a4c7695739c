import { readFileSync } from 'node:fs'

const packageFile = new URL('../../package.json', import.meta.url)
const { version }: { version: string } = JSON.parse(readFileSync(packageFile, 'utf8'))

/** What differs between two runs of the same command line, and what stands for it. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:?\d\d(?::?\d\d(?:\.\d+)?)?Z?/g, '<time>'],
  [/(trusted since |\/project {2})\d{4}-\d\d-\d\d\b/g, '$1<date>'],
  [/\b\d{8}-\d{6}(?:-\d)?\b/g, '<time>'],
  [/\b\d+(?:\.\d+)? ?ms\b|\b\d+\.\d+ s\b/g, '<duration>'],
  [/("\w*(?:Ms|_ms|At|pid|port|elapsed|uptime)": ?)\d+(?:\.\d+)?/g, '$1<n>'],
  [/("weight": 0\.9{5})\d+/g, '$1'],
  [/\/[^\s"]*\/skillrail-\w{6}\//g, '/tmp/skillrail-<x>/'],
  [/ time="[\d.]+"/g, ' time="<n>"'],
  [/style="[^"]*\d%[^"]*"/g, 'style="<n>"'],
  [/\b(process |as )\d+/g, '$1<n>'],
  [/\b\d+-(?=<id)/g, '<n>-'],
  [/("(?:startedBy|user)": ?)"[^"]*"/g, '$1"<user>"'],
  [/(approved in advance by )\S+/g, '$1<user>'],
  [/█+/g, '█'],
  [/Bearer [\w-]{43}/g, 'Bearer <token>'],
  [/(\/projects\/[\w.-]+-)[0-9a-f]{16}(?=\/)/g, '$1<digest>'],
  [/#once-[0-9a-f]{64}/g, '#once-<token>'],
  [/\b(127\.0\.0\.1|localhost):\d+/g, '$1:<port>'],
  [/\bv\d+\.\d+\.\d+\b/g, '<node version>'],
]

/** Replaces paths, ids, times and the like; lines that had one lose the blanks that align columns. */
export function normaliser(paths: Readonly<Record<string, string>>): (text: string) => string {
  const ids = new Map<string, string>()
  const named = (id: string): string => {
    const name = ids.get(id) ?? `<id ${ids.size + 1}>`
    ids.set(id, name)
    return name
  }
  return (text) => {
    const withoutStack = text.replaceAll(/^ {4}at .*\n/gm, '')
    const lines = withoutStack.split('\n')
    let all = withoutStack.replaceAll(version, '<version>')
    for (const [path, name] of Object.entries(paths)) all = all.replaceAll(path, name)
    return all
      .split('\n')
      .map((line, index) => {
        let changed = line.replaceAll(/\b0[a-z][0-9a-z]{12}\b/g, named)
        for (const [pattern, name] of varying) changed = changed.replaceAll(pattern, name)
        const isAligned = changed === line && lines[index] === line && !/^[·…] /.test(line)
        if (isAligned) return changed
        // Where a line was cut depends on how long the duration in it is.
        const blanks = changed.replaceAll(/(?<=\S) {2,}/g, '  ')
        return blanks.replace(/(<duration>.{30}).*…$/, '$1…')
      })
      .join('\n')
  }
}
