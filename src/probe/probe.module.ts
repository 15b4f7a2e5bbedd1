import { Module } from '@nestjs/common';
import { RegistryModule } from '../registry/registry.module.js';
import { AgentWatch } from './agent-watch.js';
import { Budget } from './budget.js';
import { Canary } from './canary.js';
import { DependencyWatch } from './dependency-watch.js';
import { EchoPort } from './echo-port.js';
import { EndpointLayers } from './endpoint-layers.js';
import { ProbeController } from './probe.controller.js';
import { ProbeEngine } from './probe-engine.js';
import { ProbeMetrics } from './probe-metrics.js';
import { Probers } from './probers/probers.js';
import { Replicas } from './replicas.js';
import { Reporter } from './reporter.js';
import { SelfWatch } from './self-watch.js';
import { Settler } from './settler.js';

@Module({
  imports: [RegistryModule],
  controllers: [ProbeController],
  providers: [
    AgentWatch,
    Budget,
    Canary,
    DependencyWatch,
    EchoPort,
    EndpointLayers,
    ProbeEngine,
    ProbeMetrics,
    { provide: Probers, useValue: new Probers([]) },
    Replicas,
    Reporter,
    SelfWatch,
    Settler,
  ],
  exports: [EchoPort],
})
export class ProbeModule {}
