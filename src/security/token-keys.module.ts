import { Module } from '@nestjs/common';
import { KeySetController } from './key-set.controller.js';
import { TokenKeys } from './token-keys.js';

/** Apart from who may call: it needs the ledger, and an HTTP server without one is guarded all the same. */
@Module({ controllers: [KeySetController], providers: [TokenKeys], exports: [TokenKeys] })
export class TokenKeysModule {}
