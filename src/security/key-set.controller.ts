import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { JSONWebKeySet } from 'jose';
import { TokenKeys } from './token-keys.js';

/** The public keys of task tokens, where software that checks tokens looks for them. Outside of the API prefix, and open. */
@ApiExcludeController()
@Controller()
export class KeySetController {
  constructor(private readonly keys: TokenKeys) {}

  @Get('.well-known/jwks.json')
  // Shorter than a new key is shown before its first use.
  @Header('cache-control', 'public, max-age=300')
  keySet(): JSONWebKeySet {
    return this.keys.published();
  }
}
