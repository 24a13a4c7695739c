import type { LanguageModel } from 'ai'
import { messageOf, nearest, type Runtime, systemCode, systemRuntime } from '../../base/index.ts'
import { AgentUsageError, ModelNotFoundError } from '../agent-errors.ts'
import { compatibleKeyVariable, type ProviderDefinition, providerTable } from './providers.ts'
import { requireAddress } from './require-address.ts'

/** A model of the AI SDK; a bare name is not one. */
export type ModelObject = Exclude<LanguageModel, string>

/** Anything that makes models of names: every provider of the AI SDK does. */
export interface ModelProvider {
  languageModel(name: string): LanguageModel
}

export interface ResolveModelOptions {
  /** Providers of the program's own, by name; they win over those of the table. */
  providers?: Readonly<Record<string, ModelProvider>> | undefined
  /** Where the provider listens, in place of its own address. */
  baseUrl?: string | undefined
  /** Default: the provider's own variable. */
  apiKey?: string | undefined
  /** The address of `openai-compatible` when `baseUrl` is not given; that of the setting. */
  compatibleUrl?: string | undefined
  runtime?: Pick<Runtime, 'env'> | undefined
}

/**
 * The model that a name such as `anthropic:claude-sonnet-4-5` or `ollama:qwen3:8b` stands for. Only
 * the provider's package is loaded; whether the provider has the model shows in the first call.
 *
 * @throws {ModelNotFoundError} for an unknown provider or one whose package is not installed.
 * @throws {AgentUsageError} for a missing key or address, or an address that is none.
 */
export async function resolveModel(
  name: string,
  options: ResolveModelOptions = {},
): Promise<ModelObject> {
  const { own, definition, modelName } = readModelName(name, options)
  const { baseUrl } = options
  if (baseUrl !== undefined) requireAddress(baseUrl)
  if (own !== undefined) return modelOf(own, modelName, name)
  const provider =
    definition.kind === 'package'
      ? await hostedProvider(definition, options)
      : await compatibleProvider(definition, options)
  return modelOf(provider, modelName, name)
}

type NamedModel = { modelName: string } & (
  | { own: ModelProvider; definition?: undefined }
  | { own?: undefined; definition: ProviderDefinition }
)

/**
 * Whose model a name stands for. Nothing is loaded.
 *
 * @throws {AgentUsageError} when it is not `provider:name`; {ModelNotFoundError} for an unknown provider.
 */
export function readModelName(name: string, options: ResolveModelOptions = {}): NamedModel {
  const { providerName, modelName } = splitModelName(name, options)
  const { providers = {} } = options
  const own = Object.hasOwn(providers, providerName) ? providers[providerName] : undefined
  if (own !== undefined) return { own, modelName }
  const definition = providerTable.find((candidate) => candidate.name === providerName)
  if (definition === undefined) throw unknownProvider(providerName, options)
  return { definition, modelName }
}

function splitModelName(
  name: string,
  options: ResolveModelOptions,
): { providerName: string; modelName: string } {
  const colon = name.indexOf(':')
  const providerName = name.slice(0, colon)
  const modelName = name.slice(colon + 1)
  if (colon > 0 && modelName !== '') return { providerName, modelName }
  const bare = name.replaceAll(':', '')
  const provider = options.baseUrl === undefined ? 'PROVIDER' : 'openai-compatible'
  const example = providerNames(options).includes(bare)
    ? `${bare}:NAME`
    : `${provider}:${bare || 'NAME'}`
  throw new AgentUsageError({
    code: 'model-name',
    message: `The model ${JSON.stringify(name)} does not say whose it is.`,
    hint: `Write it as provider:name, ${example} say. Providers: ${providerNames(options).join(', ')}.`,
  })
}

function unknownProvider(provider: string, options: ResolveModelOptions): ModelNotFoundError {
  const names = providerNames(options)
  const meant = nearest(provider, names)
  const guess = meant === undefined ? '' : `Did you mean ${meant}? `
  return new ModelNotFoundError({
    code: 'provider-unknown',
    message: `There is no provider of models called ${JSON.stringify(provider)}.`,
    hint: `${guess}Providers: ${names.join(', ')}.`,
  })
}

function providerNames({ providers = {} }: ResolveModelOptions): string[] {
  return [...new Set([...Object.keys(providers), ...providerTable.map(({ name }) => name)])]
}

async function hostedProvider(
  definition: ProviderDefinition & { kind: 'package' },
  options: ResolveModelOptions,
): Promise<ModelProvider> {
  const { name, keyVariable, factory } = definition
  const { env } = options.runtime ?? systemRuntime()
  const apiKey = options.apiKey ?? (keyVariable === undefined ? undefined : env[keyVariable])
  const exported: object = await importProvider(definition)
  if (apiKey === undefined && keyVariable !== undefined) {
    throw new AgentUsageError({
      code: 'key-missing',
      message: `There is no key for the provider ${name}.`,
      hint: `Set ${keyVariable}.`,
    })
  }
  const make: unknown = Reflect.get(exported, factory)
  if (!isFactory(make)) {
    throw new ModelNotFoundError({
      code: 'provider-unusable',
      message: `The installed ${definition.package} has no ${factory}: it is of another version.`,
      hint: `npm install ${definition.package}@latest`,
    })
  }
  return make({
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(options.baseUrl === undefined ? {} : { baseURL: options.baseUrl }),
  })
}

async function importProvider({
  name,
  package: packageName,
}: ProviderDefinition & { kind: 'package' }): Promise<object> {
  try {
    const exported: object = await import(packageName)
    return exported
  } catch (error) {
    const missing = systemCode(error) === 'ERR_MODULE_NOT_FOUND'
    throw new ModelNotFoundError({
      code: missing ? 'provider-not-installed' : 'provider-unusable',
      message: missing
        ? `The provider ${name} needs the package ${packageName}, which is not installed.`
        : `The package ${packageName} cannot be loaded: ${messageOf(error)}`,
      hint: `npm install ${packageName}`,
      cause: error,
    })
  }
}

async function compatibleProvider(
  { name, baseUrl: usual }: ProviderDefinition & { kind: 'openai-compatible' },
  options: ResolveModelOptions,
): Promise<ModelProvider> {
  const { env } = options.runtime ?? systemRuntime()
  const setting = usual === undefined ? options.compatibleUrl : undefined
  const baseURL = options.baseUrl ?? (setting === '' ? undefined : setting) ?? usual
  if (baseURL === undefined) {
    throw new AgentUsageError({
      code: 'base-url-missing',
      message: 'An OpenAI-compatible server needs its address.',
      hint: 'Give --base-url http://127.0.0.1:11434/v1, or set agent.baseUrl.',
    })
  }
  const apiKey = options.apiKey ?? env[compatibleKeyVariable]
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  return createOpenAICompatible({
    name,
    baseURL,
    includeUsage: true,
    // Most servers can force a shape; the loop asks the others again without one.
    supportsStructuredOutputs: true,
    ...(apiKey === undefined ? {} : { apiKey }),
  })
}

function modelOf(provider: ModelProvider, modelName: string, name: string): ModelObject {
  const model = provider.languageModel(modelName)
  if (typeof model !== 'string') return model
  throw new ModelNotFoundError({
    code: 'model-unresolved',
    message: `The provider of ${name} gave a name in place of a model.`,
  })
}

function isFactory(value: unknown): value is (options: object) => ModelProvider {
  return typeof value === 'function'
}
