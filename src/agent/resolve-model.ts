import type { LanguageModel } from 'ai'
import { messageOf, systemCode } from '../core/errors.ts'
import { nearest } from '../core/text.ts'
import { type Runtime, systemRuntime } from '../core/runtime.ts'
import { AgentUsageError, ModelNotFoundError } from './errors.ts'
import type { ModelObject } from './types.ts'

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
 * @throws {AgentUsageError} for a missing key or address, or an invalid address.
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
    message: `Unknown model provider ${JSON.stringify(provider)}.`,
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

/** How a provider of models is reached. */
type ProviderDefinition = { name: string } & (
  | {
      kind: 'package'
      /** An optional peer dependency. */
      package: string
      /** The function of the package that makes a provider of options. */
      factory: string
      /** The variable that holds the key; undefined where the package finds credentials itself. */
      keyVariable: string | undefined
    }
  | {
      kind: 'openai-compatible'
      /** Where such a server listens by itself; undefined: it has to be said. */
      baseUrl: string | undefined
    }
)

/** The variable with the key of an OpenAI-compatible server; no other key is ever sent to one. */
const compatibleKeyVariable = 'SKILLRAIL_AGENT_API_KEY'

/** Every provider that a name such as `anthropic:claude-sonnet-4-5` can begin with. */
export const providerTable: readonly ProviderDefinition[] = [
  hosted('anthropic', '@ai-sdk/anthropic', 'createAnthropic', 'ANTHROPIC_API_KEY'),
  hosted('openai', '@ai-sdk/openai', 'createOpenAI', 'OPENAI_API_KEY'),
  hosted('google', '@ai-sdk/google', 'createGoogle', 'GOOGLE_GENERATIVE_AI_API_KEY'),
  hosted('mistral', '@ai-sdk/mistral', 'createMistral', 'MISTRAL_API_KEY'),
  hosted('groq', '@ai-sdk/groq', 'createGroq', 'GROQ_API_KEY'),
  hosted('xai', '@ai-sdk/xai', 'createXai', 'XAI_API_KEY'),
  hosted('deepseek', '@ai-sdk/deepseek', 'createDeepSeek', 'DEEPSEEK_API_KEY'),
  hosted('cohere', '@ai-sdk/cohere', 'createCohere', 'COHERE_API_KEY'),
  hosted('azure', '@ai-sdk/azure', 'createAzure', 'AZURE_API_KEY'),
  hosted('amazon-bedrock', '@ai-sdk/amazon-bedrock', 'createAmazonBedrock', undefined),
  hosted('google-vertex', '@ai-sdk/google-vertex', 'createGoogleVertex', undefined),
  { name: 'openai-compatible', kind: 'openai-compatible', baseUrl: undefined },
  { name: 'ollama', kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1' },
  { name: 'llama.cpp', kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:8080/v1' },
  { name: 'lmstudio', kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1234/v1' },
  { name: 'vllm', kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:8000/v1' },
]

function hosted(
  name: string,
  packageName: string,
  factory: string,
  keyVariable: string | undefined,
): ProviderDefinition {
  return { name, kind: 'package', package: packageName, factory, keyVariable }
}

/**
 * Passes for the address of a server.
 *
 * @throws {AgentUsageError} for one without a scheme, with another one than http and https, or with a
 *   user or password in it.
 */
function requireAddress(text: string): void {
  if (hasCredentials(text)) {
    throw new AgentUsageError({
      code: 'base-url',
      message: 'The address of the provider has a user or a password in it, which is never sent.',
      hint: 'Take it out, and give a key by the variable of the provider, such as SKILLRAIL_AGENT_API_KEY.',
    })
  }
  if (isAddress(text)) return
  const [shown = ''] = text.split(/[?#]/)
  const completed = `http://${shown}`
  throw new AgentUsageError({
    code: 'base-url',
    message: `The address ${JSON.stringify(shown)} of the provider is none that can be asked.`,
    hint:
      !shown.includes('://') && /^[\w.[]/.test(shown) && isAddress(completed)
        ? `Without http:// or https:// it names no server: write ${completed}`
        : 'It looks like http://127.0.0.1:11434/v1.',
  })
}

function isAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}

/** Also where the scheme is missing, and `me:secret@host` is taken for a scheme and a path. */
function hasCredentials(text: string): boolean {
  return [text, `http://${text}`].some((address) => {
    const url = URL.parse(address)
    return url !== null && (url.username !== '' || url.password !== '')
  })
}
