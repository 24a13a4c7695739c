import { join } from 'node:path'
import { clientFolder, type ClientName } from '#core/client-folders'
import { fitsText } from '#core/fits-text'
import { objectOf } from '#core/json'
import { realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { anything } from '#core/shapes'
import { PluginFiles, UnreadableRecord } from './client-plugin-records.ts'
import { claudeSettingsPaths, projectFolders } from './client-plugins.ts'
import type { SkillInfo } from './model.ts'

type Place = Pick<Runtime, 'cwd' | 'env' | 'home' | 'platform'>
type Skill = Pick<SkillInfo, 'name' | 'path'>
type Settings = Readonly<Record<string, unknown>>
/** Whether a client hides a skill from its model and its user. */
type IsHidden = (skill: Skill) => boolean

/** Removes from each skill the clients whose settings switch the skill off. */
export function withoutHidden(runtime: Place, skills: readonly SkillInfo[]): SkillInfo[] {
  const checks = new Map<ClientName, IsHidden>()
  const isHidden = (client: ClientName, skill: Skill): boolean => {
    const check = checks.get(client) ?? switchesOf(client, runtime)
    checks.set(client, check)
    return check(skill)
  }
  return skills.map((skill) => {
    const clients = skill.clients.filter((client) => !isHidden(client, skill))
    // Unchanged skills keep their shared list, which saves memory.
    return clients.length === skill.clients.length ? skill : { ...skill, clients }
  })
}

function switchesOf(client: ClientName, runtime: Place): IsHidden {
  try {
    return switches[client]?.(new PluginFiles(new Set()), runtime) ?? (() => false)
  } catch (error) {
    // A client ignores a file that it cannot read.
    if (error instanceof UnreadableRecord) return () => false
    throw error
  }
}

/** Behaviour of the real clients, from `test/clients/skill-switches.suite.ts`. */
const switches: Partial<Record<ClientName, (files: PluginFiles, runtime: Place) => IsHidden>> = {
  claude(files, runtime) {
    const settings = claudeSettingsPaths(runtime).map((path) =>
      objectOf(files.json(path, anything)),
    )
    const overrides = Object.assign({}, ...settings.map((one) => objectOf(one['skillOverrides'])))
    const deniedTools = settings.flatMap((one) => textsIn(objectOf(one['permissions'])['deny']))
    const isOff = deniedTools.includes('Skill')
    return ({ name }) => isOff || new Map(Object.entries(overrides)).get(name) === 'off'
  },
  codex(files, runtime) {
    const path = join(clientFolder('codex', runtime), 'config.toml')
    const { config } = objectOf(objectOf(files.toml(path, anything))['skills'])
    const off = (Array.isArray(config) ? config : [])
      .map((entry: unknown) => objectOf(entry))
      .filter(({ enabled }) => enabled === false)
    return (skill) =>
      off.some((entry) => entry['name'] === skill.name || isAt(entry['path'], skill))
  },
  copilot(files, runtime) {
    const path = join(clientFolder('copilot', runtime), 'settings.json')
    const settings = objectOf(files.jsonc(path, anything))
    const off = ['disabledSkills', 'disabled_skills'].flatMap((key) => textsIn(settings[key]))
    return ({ name }) => off.includes(name)
  },
  gemini(files, runtime) {
    const settings = settingsOf('gemini', files, runtime).map((one) => objectOf(one['skills']))
    const isOff = settings.findLast(({ enabled }) => enabled !== undefined)?.['enabled'] === false
    return (skill) => isOff || isListed(settings, skill)
  },
  qwen(files, runtime) {
    const settings = settingsOf('qwen', files, runtime).map((one) => objectOf(one['skills']))
    return (skill) => isListed(settings, skill)
  },
  opencode(files, runtime) {
    const names = ['opencode.json', 'opencode.jsonc']
    const folders = [
      clientFolder('opencode', runtime),
      ...projectFolders(runtime)
        .toReversed()
        .flatMap((folder) => [folder, join(folder, '.opencode')]),
    ]
    const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)))
    const rules = paths.flatMap((path) => {
      const settings = objectOf(files.jsonc(path, anything))
      const { skill } = objectOf(settings['permission'])
      const isSwitchedOff = objectOf(settings['tools'])['skill'] === false
      return [
        ...(isSwitchedOff ? [['*', 'deny'] as const] : []),
        ...Object.entries(typeof skill === 'string' ? { '*': skill } : objectOf(skill)),
      ]
    })
    return ({ name }) => rules.findLast(([pattern]) => fitsText(name, pattern))?.[1] === 'deny'
  },
}

/** Returns the user's settings and the project's settings. */
function settingsOf(client: 'gemini' | 'qwen', files: PluginFiles, runtime: Place): Settings[] {
  const inProject = join(runtime.cwd, `.${client}`)
  return [clientFolder(client, runtime), inProject].map((folder) =>
    objectOf(files.jsonc(join(folder, 'settings.json'), anything)),
  )
}

function isListed(settings: readonly Settings[], { name }: Skill): boolean {
  const off = settings.flatMap(({ disabled }) => textsIn(disabled))
  return off.some((one) => one.toLowerCase() === name.toLowerCase())
}

function isAt(path: unknown, skill: Skill): boolean {
  if (typeof path !== 'string') return false
  return path === skill.path || realPathOf(path) === realPathOf(skill.path)
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
