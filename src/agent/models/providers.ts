/** How a provider of models is reached. */
export type ProviderDefinition = { name: string } & (
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
export const compatibleKeyVariable = 'SKILLRAIL_AGENT_API_KEY'

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
