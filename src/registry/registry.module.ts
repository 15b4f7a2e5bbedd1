import { Module } from '@nestjs/common';
import { AgentJudge } from './agent-judge.js';
import { AgentSweep } from './agent-sweep.js';
import { AgentsController } from './agents.controller.js';
import { Aliases } from './aliases.js';
import { AliasesController } from './aliases.controller.js';
import { CapabilitiesController } from './capabilities.controller.js';
import { CatalogueStore } from './catalogue.store.js';
import { Hearing } from './hearing.js';
import { ReachSync } from './reach-sync.js';
import { ReachTable } from './reach-table.js';
import { RegistryEvents } from './registry.events.js';
import { Registry } from './registry.js';
import { RegistryStore } from './registry.store.js';
import { Sources } from './sources/sources.js';
import { StatusMetrics } from './status-metrics.js';
import { Switches } from './switches.js';
import { TransitionNews } from './transition-news.js';
import { Transitions } from './transitions.js';
import { Windows } from './windows.js';

@Module({
  controllers: [AgentsController, AliasesController, CapabilitiesController],
  providers: [
    Aliases,
    CatalogueStore,
    Registry,
    RegistryStore,
    RegistryEvents,
    ReachTable,
    ReachSync,
    Switches,
    Hearing,
    AgentJudge,
    AgentSweep,
    StatusMetrics,
    Sources,
    Transitions,
    TransitionNews,
    Windows,
  ],
  exports: [
    Aliases,
    Registry,
    RegistryStore,
    RegistryEvents,
    ReachTable,
    ReachSync,
    Switches,
    Hearing,
    AgentJudge,
    Sources,
    Windows,
  ],
})
export class RegistryModule {}
