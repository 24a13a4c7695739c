import { isAbsolute, relative, resolve, sep } from 'node:path'
import { firstMatch, type TriggerMatch, type TriggerSkill } from './match.ts'
import { compilePattern } from './pattern.ts'

export interface ToolCall {
  kind: 'edit' | 'read' | 'shell' | 'skill'
  paths: readonly string[]
  command: string
}

export function matchToolCall<Skill extends TriggerSkill>(
  call: ToolCall,
  skills: Iterable<Skill>,
  place: { cwd: string; root: string },
): TriggerMatch<Skill>[] {
  const commands = call.command.split(/\n|;|&&|\|\|?/).map((text) => text.trim())
  const paths = call.paths.map((path) => {
    const inside = relative(place.root, resolve(place.cwd, path))
    return isAbsolute(inside) ? inside : inside.split(sep).join('/')
  })
  return [...skills].flatMap((skill) =>
    skill.triggers.flatMap((trigger): TriggerMatch<Skill>[] => {
      const { when } = trigger
      const isTouched = when?.kind === 'paths' && (call.kind === 'edit' || call.kind === when.on)
      const patterns = isTouched ? when.paths.map(globPattern) : []
      if (when?.kind === 'command' && call.kind === 'shell') patterns.push(when.pattern)
      const texts = isTouched ? paths : commands
      return patterns
        .slice(0, mostGlobs)
        .flatMap((source) => {
          const reading = compilePattern(source)
          const found = reading.ok ? firstMatch(reading.pattern, texts) : undefined
          return found ? [{ skill, trigger, ...found }] : []
        })
        .slice(0, 1)
    }),
  )
}

const mostGlobs = 100

/** The regular expression of a glob. One without a slash means a file of that name in any folder. */
export function globPattern(glob: string): string {
  const whole = glob.replace(/^\.?\//, '')
  const anywhere = whole.includes('/') ? whole : `**/${whole}`
  let depth = 0
  const pattern = anywhere.replace(/\*\*\/|\*\*|[*?{},]|\[[^[\]]+\]|[\\^$.|+()[\]]/g, (sign) => {
    if (sign === '**/') return '(.*/)?'
    if (sign === '**') return '.*'
    if (sign === '*') return '[^/]*'
    if (sign === '?') return '[^/]'
    if (sign === '{') return (depth++, '(')
    if (sign === '}') return depth-- > 0 ? ')' : '[}]'
    if (sign === ',') return depth > 0 ? '|' : ','
    return sign.length > 1 ? sign.replace('[!', '[^') : `\\${sign}`
  })
  return `^${pattern}$`
}
