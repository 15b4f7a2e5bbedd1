import { choice, credentialReference, integer, into, names, secretUrl, text } from './kinds.js';

/* Registries of others, from which agents are taken over. */

const sources = into('Agents from Consul and Nacos');
const CREDENTIAL = 'env:REACH_CREDENTIAL_NAME, or file:NAME below REACH_CREDENTIALS_DIR';
export const sourceFields = {
  consulUrl: secretUrl(
    sources('REACH_CONSUL_URL', 'Address of a Consul whose services are taken over as agents; absent: none'),
    ['http', 'https'],
  ),
  consulTag: text(
    sources('REACH_CONSUL_TAG', 'Services, and instances of them, that carry this tag are agents'),
    'agent-reach',
  ),
  consulServices: names(
    sources(
      'REACH_CONSUL_SERVICES',
      'Services that are agents, comma separated, instead of those with the tag',
    ),
  ),
  consulCredential: credentialReference(
    sources(
      'REACH_CONSUL_CREDENTIAL',
      `Where the ACL token for Consul lies: ${CREDENTIAL}; absent: none is sent`,
    ),
  ),
  nacosUrl: secretUrl(
    sources(
      'REACH_NACOS_URL',
      'Address of a Nacos with its context path, e.g. http://nacos:8848/nacos; absent: none',
    ),
    ['http', 'https'],
  ),
  nacosApi: choice(
    sources('REACH_NACOS_API', 'API of that Nacos: v3 (Nacos 3), v2 (from 2.2), v1 (1.x)'),
    ['v3', 'v2', 'v1'],
    'v3',
  ),
  nacosNamespace: text(
    sources('REACH_NACOS_NAMESPACE', 'Id of a namespace of Nacos; absent: its public one'),
    '',
  ),
  nacosGroup: text(
    sources('REACH_NACOS_GROUP', 'Group of Nacos whose services are followed'),
    'DEFAULT_GROUP',
  ),
  nacosServices: names(
    sources(
      'REACH_NACOS_SERVICES',
      'Services that are agents, comma separated; absent: instances of the group with reach_* metadata (listing them takes an administrator from Nacos 3 on)',
    ),
  ),
  nacosUsername: text(sources('REACH_NACOS_USERNAME', 'User that logs in at Nacos'), 'nacos'),
  nacosCredential: credentialReference(
    sources(
      'REACH_NACOS_CREDENTIAL',
      `Where the password of that user lies: ${CREDENTIAL}; absent: no login`,
    ),
  ),
  sourceNamespace: text(
    sources('REACH_SOURCE_NAMESPACE', 'Namespace in which agents from Consul and Nacos are registered'),
    'default',
  ),
  sourceIntervalMs: integer(
    sources(
      'REACH_SOURCE_INTERVAL_MS',
      'Milliseconds between two looks at Nacos, and between answers of Consul when they come in a rush',
    ),
    50,
    600_000,
    5000,
  ),
  sourceGraceMs: integer(
    sources(
      'REACH_SOURCE_GRACE_MS',
      'Milliseconds after which an agent is removed that is gone from Consul or Nacos; when most are gone at once they are also kept in service for so long',
    ),
    0,
    86_400_000,
    60_000,
  ),
};
