import { Module } from '@nestjs/common';
import { RegistryModule } from '../registry/registry.module.js';
import { AgentWatch } from './agent-watch.js';
import { Budget } from './budget.js';
import { Canary } from './canary.js';
import { Complaints } from './complaints.js';
import { DependencyWatch } from './dependency-watch.js';
import { EchoPort } from './echo-port.js';
import { EndpointLayers } from './endpoint-layers.js';
import { Journal } from './journal.js';
import { PeerWatch } from './peer-watch.js';
import { ProbeController } from './probe.controller.js';
import { ProbeEngine } from './probe-engine.js';
import { ProbeMetrics } from './probe-metrics.js';
import { ProbersModule } from './probers/probers.module.js';
import { Replicas } from './replicas.js';
import { Reporter } from './reporter.js';
import { SelfWatch } from './self-watch.js';
import { Settler } from './settler.js';
import { SourceOwner } from './source-owner.js';

@Module({
  imports: [RegistryModule, ProbersModule],
  controllers: [ProbeController],
  providers: [
    AgentWatch,
    Budget,
    Canary,
    Complaints,
    DependencyWatch,
    EchoPort,
    EndpointLayers,
    Journal,
    PeerWatch,
    ProbeEngine,
    ProbeMetrics,
    Replicas,
    Reporter,
    SelfWatch,
    Settler,
    SourceOwner,
  ],
  exports: [Complaints, EchoPort, Replicas],
})
export class ProbeModule {}
