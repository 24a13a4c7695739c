import type { FuzzTarget } from './target.ts'
import * as argumentText from './targets/arguments.ts'
import * as directive from './targets/directive.ts'
import * as frontmatter from './targets/frontmatter.ts'
import * as journal from './targets/journal.ts'
import * as lines from './targets/lines.ts'
import * as outputProtocol from './targets/output-protocol.ts'
import * as pattern from './targets/pattern.ts'
import * as printer from './targets/printer.ts'
import * as references from './targets/references.ts'
import * as servers from './targets/servers.ts'
import * as settings from './targets/settings.ts'
import * as skill from './targets/skill.ts'
import * as state from './targets/state.ts'
import * as toolCache from './targets/tool-cache.ts'
import * as workflows from './targets/workflows.ts'
import * as yaml from './targets/yaml.ts'

/** Each of `targets/`, in the order of the folder. */
export const targets: readonly FuzzTarget[] = [
  argumentText,
  directive,
  frontmatter,
  journal,
  lines,
  outputProtocol,
  pattern,
  printer,
  references,
  servers,
  settings,
  skill,
  state,
  toolCache,
  workflows,
  yaml,
]
