------------------------------- MODULE Basket -------------------------------
\* The basket for TLC: what `promela.rs` says to SPIN, with the same states.
\*
\* Each agent reads the basket, and writes one of its two fields back as a whole snapshot, expecting the version that it has
\* seen, under a key of its own; refused as stale, it begins again, twice at most. A call is sent, arrives at some node, runs
\* as one transaction, and is answered. A drop leaves the call behind as an orphan and sends it again; a restart sends the
\* calls at its node back.
EXTENDS Naturals
CONSTANTS Agents, Nodes, Drops, Restarts
VARIABLES agents, orphans, version, memory, storage, dropsLeft, restartsLeft, recorded, effects, lost
stored == <<version, memory, storage, recorded, effects, lost>>
all == <<agents, orphans, dropsLeft, restartsLeft, stored>>

AllAgents == 0 .. Agents - 1
AllNodes == 0 .. Nodes - 1
AllOrphans == 0 .. Drops - 1

\* Where a call is: nowhere, on its way, at node n at 2 + n, done, refused as stale.
None == 0
OnItsWay == 1
At(node) == 2 + node
Places == {At(node) : node \in AllNodes}
Done == 10
Stale == 11

\* What an agent is at.
ToRead == 0
Reading == 1
ToWrite == 2
Writing == 3
Finished == 4
GivenUp == 5
Replans == 2

NoView == [version |-> 0, memory |-> 0, storage |-> 0, seen |-> {}]
NoOrphan == [writes |-> FALSE, owner |-> 0, attempt |-> 0, place |-> None, view |-> NoView]
Idle(phase, attempt) == [phase |-> phase, attempt |-> attempt, place |-> None, view |-> NoView]
Written == {agent \in AllAgents : effects[agent] > 0}

Init ==
  /\ agents = [agent \in AllAgents |-> Idle(ToRead, 0)]
  /\ orphans = [orphan \in AllOrphans |-> NoOrphan]
  /\ version = 0 /\ memory = 0 /\ storage = 0
  /\ dropsLeft = Drops /\ restartsLeft = Restarts
  /\ recorded = [agent \in AllAgents |-> {}]
  /\ effects = [agent \in AllAgents |-> 0]
  /\ lost = FALSE

Commit(agent, attempt, view) ==
  /\ version' = version + 1
  /\ memory' = IF agent % 2 = 0 THEN agent + 1 ELSE view.memory
  /\ storage' = IF agent % 2 = 1 THEN agent + 1 ELSE view.storage
  /\ recorded' = [recorded EXCEPT ![agent] = @ \cup {attempt}]
  /\ effects' = [effects EXCEPT ![agent] = IF @ < 2 THEN @ + 1 ELSE @]
  /\ lost' = (lost \/ Written \ ({agent} \cup view.seen) # {})

\* How a write ends that commits nothing; `None`: it commits.
Refusal(agent, attempt, view) ==
  IF attempt \in recorded[agent] THEN Done ELSE IF view.version # version THEN Stale ELSE None

Send(agent) ==
  /\ agents[agent].phase \in {ToRead, ToWrite} /\ agents[agent].place = None
  /\ agents' = [agents EXCEPT ![agent].phase = @ + 1, ![agent].place = OnItsWay]
  /\ UNCHANGED <<stored, orphans, dropsLeft, restartsLeft>>

Deliver(agent, node) ==
  /\ agents[agent].place = OnItsWay
  /\ agents' = [agents EXCEPT ![agent].place = At(node)]
  /\ UNCHANGED <<stored, orphans, dropsLeft, restartsLeft>>

Read(agent) ==
  /\ agents[agent].phase = Reading /\ agents[agent].place \in Places
  /\ LET view == [version |-> version, memory |-> memory, storage |-> storage, seen |-> Written]
     IN agents' = [agents EXCEPT ![agent].place = Done, ![agent].view = view]
  /\ UNCHANGED <<stored, orphans, dropsLeft, restartsLeft>>

Write(agent) ==
  LET at == agents[agent]
      refusal == Refusal(agent, at.attempt, at.view)
  IN
  /\ at.phase = Writing /\ at.place \in Places
  /\ IF refusal = None THEN Commit(agent, at.attempt, at.view) ELSE UNCHANGED stored
  /\ agents' = [agents EXCEPT ![agent].place = IF refusal = None THEN Done ELSE refusal]
  /\ UNCHANGED <<orphans, dropsLeft, restartsLeft>>

Receive(agent) ==
  LET at == agents[agent] IN
  /\ at.place \in {Done, Stale}
  /\ agents' = [agents EXCEPT ![agent] =
       IF at.phase = Reading THEN [at EXCEPT !.phase = ToWrite, !.place = None]
       ELSE IF at.place = Done THEN Idle(Finished, 0)
       ELSE IF at.attempt < Replans THEN Idle(ToRead, at.attempt + 1)
       ELSE Idle(GivenUp, 0)]
  /\ UNCHANGED <<stored, orphans, dropsLeft, restartsLeft>>

Drop(agent) ==
  LET at == agents[agent] IN
  /\ dropsLeft > 0 /\ at.place # None
  /\ dropsLeft' = dropsLeft - 1
  /\ orphans' = IF at.place \in {Done, Stale} THEN orphans
       ELSE [orphans EXCEPT ![Drops - dropsLeft] =
         IF at.phase = Writing
         THEN [writes |-> TRUE, owner |-> agent, attempt |-> at.attempt, place |-> at.place, view |-> at.view]
         ELSE [NoOrphan EXCEPT !.owner = agent, !.place = at.place]]
  /\ agents' = [agents EXCEPT ![agent].place = OnItsWay, ![agent].view = IF at.phase = Reading THEN NoView ELSE @]
  /\ UNCHANGED <<stored, restartsLeft>>

DeliverOrphan(orphan, node) ==
  /\ orphans[orphan].place = OnItsWay
  /\ orphans' = [orphans EXCEPT ![orphan].place = At(node)]
  /\ UNCHANGED <<stored, agents, dropsLeft, restartsLeft>>

RunOrphan(orphan) ==
  LET call == orphans[orphan] IN
  /\ call.place \in Places
  /\ IF call.writes /\ Refusal(call.owner, call.attempt, call.view) = None
     THEN Commit(call.owner, call.attempt, call.view) ELSE UNCHANGED stored
  /\ orphans' = [orphans EXCEPT ![orphan] = NoOrphan]
  /\ UNCHANGED <<agents, dropsLeft, restartsLeft>>

Restart(node) ==
  /\ restartsLeft > 0
  /\ restartsLeft' = restartsLeft - 1
  /\ agents' = [agent \in AllAgents |->
       IF agents[agent].place = At(node) THEN [agents[agent] EXCEPT !.place = OnItsWay] ELSE agents[agent]]
  /\ orphans' = [orphan \in AllOrphans |-> IF orphans[orphan].place = At(node) THEN NoOrphan ELSE orphans[orphan]]
  /\ UNCHANGED <<stored, dropsLeft>>

Next ==
  \/ \E agent \in AllAgents :
       \/ Send(agent) \/ Read(agent) \/ Write(agent) \/ Receive(agent) \/ Drop(agent)
       \/ \E node \in AllNodes : Deliver(agent, node)
  \/ \E orphan \in AllOrphans : RunOrphan(orphan) \/ \E node \in AllNodes : DeliverOrphan(orphan, node)
  \/ \E node \in AllNodes : Restart(node)

Spec == Init /\ [][Next]_all
NoLostUpdate == ~lost
NoDoubleWrite == \A agent \in AllAgents : effects[agent] < 2
=============================================================================
