import Base
import Downloads
import PostgresClient
import TestKit
import Testing

@testable import Storage

/// Several stores on one PostgreSQL database, each with its own folder, are its nodes.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct NodeTests {
    private let fixture: PostgresFixture
    private let nodes: [TestedNode]

    init() async throws {
        fixture = try PostgresFixture()
        nodes = [try await TestedNode(fixture), try await TestedNode(fixture)]
    }

    @Test func nodesHaveNumbersAndOneLeads() async throws {
        #expect(nodes.map { $0.store.node?.epoch } == [1, 1])
        #expect(Set(nodes.map { $0.store.node?.number }).count == 2)
        #expect(nodes.allSatisfy { $0.store.holdsLease })
        _ = try await eventually("a leader") { nodes.map { $0.store.isLeader } == [true, false] ? true : nil }
    }

    /// Each keeps the jobs in memory that the other one has not changed.
    @Test func nodesThatWriteInTurnsKnowEachOthersChanges() async throws {
        let jobs = [try await nodes[0].create().id, try await nodes[1].create().id, try await nodes[0].create().id]
        for turn in 0..<8 {
            let store = nodes[turn % 2].store
            let signal: JobSignal = turn % 4 < 2 ? .pauseRequested : .resumeRequested
            for job in turn % 3 == 0 ? jobs : jobs.dropLast() { _ = try await store.apply(signal, to: job) }
            for job in jobs {
                let known = try await store.writer.write { try $0.job(job) }
                let stored = try await store.storedJob(job)
                #expect(known == stored, "turn \(turn)")
            }
        }
    }

    /// Nodes wait for each other. A write that arrives meanwhile does not wait for another commit.
    @Test func writesThatArriveDuringTheWaitShareTheCommit() async throws {
        let store = nodes[0].store
        let job = try await nodes[0].create().id
        let commits = store.activity.commits
        let other = try fixture.connect()
        try other.execute(script: "BEGIN; SELECT last FROM journal FOR UPDATE")
        async let first = store.apply(.pauseRequested, to: job)
        _ = try await eventually("the wait for the other node") {
            let waiting = try other.execute(
                .init("SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))"))
            return waiting.isEmpty ? nil : true
        }
        async let second = nodes[0].create()
        async let third = nodes[0].create()
        _ = try await eventually("the other writes") { store.writer.waiting == 2 ? true : nil }
        try other.execute(script: "ROLLBACK")
        _ = try await (first, second, third)
        #expect(store.activity.commits == commits + 1)
    }

    /// Its workers run later, and its disk may hang until then.
    @Test func nodeThatStartsDoesNotLead() async throws {
        for node in nodes { try await node.store.close() }
        let starting = try await TestedNode(fixture, nodes[0].folder, key: nodes[0].key, isStarting: true)
        _ = try await starting.create()
        #expect(!starting.store.isLeader)
        #expect(try await starting.store.nodes().allSatisfy { !$0.isLeader })
        // The first signal comes with the connection of the follower, the second one with the lead.
        await starting.store.work(.deadlines).wait()
        #expect(try await starting.store.takeOverNodes().leads)
        #expect(starting.store.isLeader)
        await starting.store.work(.deadlines).wait()
        #expect(try await starting.store.takeOverNodes().leads == false)
    }

    /// The former process of the leader has ended without giving its lease back.
    @Test func leaderThatStartsAgainDoesNotLeadYet() async throws {
        _ = try await eventually("a leader") { nodes[0].store.isLeader ? true : nil }
        try await nodes[0].store.close()
        try lead(nodes[0])
        let again = try await TestedNode(fixture, nodes[0].folder, key: nodes[0].key, isStarting: true)
        #expect(!again.store.isLeader)
        #expect(try await nodes[1].store.takeOverNodes().leads)
        #expect(nodes[1].store.isLeader)
    }

    /// The answer to the commit that made the node the leader was lost.
    @Test func leaderNoticesItWithoutACommit() async throws {
        await nodes[1].store.work(.deadlines).wait()
        try await nodes[0].store.close()
        try lead(nodes[1])
        await nodes[1].store.work(.deadlines).wait()
        // After a lost connection, the signal comes before the node reads who leads.
        _ = try await eventually("the lead") { nodes[1].store.isLeader ? true : nil }
    }

    private func lead(_ node: TestedNode) throws {
        let statement = PostgresStatement("UPDATE journal SET leader = $1", [.int8(node.number)])
        _ = try fixture.connect().execute(statement)
    }

    @Test func restartIsTheSameNodeWithAnotherEpoch() async throws {
        let before = try #require(nodes[1].store.node)
        try await nodes[1].store.close()
        let again = try await TestedNode(fixture, nodes[1].folder, key: nodes[1].key)
        #expect(again.store.node == Node(number: before.number, epoch: before.epoch + 1))
    }

    @Test func nodeThatStopsIsListedAsDraining() async throws {
        nodes[0].store.drain()
        _ = try await eventually("the state") {
            try await nodes[1].store.nodes().map(\.state) == [.draining, .running] ? true : nil
        }
        try await nodes[0].store.close()
        // On a busy machine, the lease of the other node can end for a moment.
        _ = try await eventually("the end") {
            try await nodes[1].store.nodes().map(\.state) == [.stopped, .running] ? true : nil
        }
    }

    @Test func leaderThatClosesHasASuccessor() async throws {
        _ = try await eventually("a leader") { nodes[0].store.isLeader ? true : nil }
        try await nodes[0].store.close()
        _ = try await eventually("another leader") {
            await nodes[1].store.work(.nodes).wait()
            _ = try await nodes[1].store.takeOverNodes()
            return nodes[1].store.isLeader ? true : nil
        }
    }

    @Test func eventsOfAllNodesReachEachInOrder() async throws {
        let seen = nodes.map { node in
            let seen = Locked<[EventID]>([])
            node.store.addCommitObserver { commit in seen.withLock { $0 += commit.events.map(\.id) } }
            return seen
        }
        try await withThrowingTaskGroup { group in
            for node in nodes {
                for _ in 0..<8 {
                    group.addTask { for _ in 0..<10 { _ = try await node.create() } }
                }
            }
            try await group.waitForAll()
        }
        for seen in seen {
            let ids = try await eventually("all events") { seen.withLock { $0.count >= 160 ? $0 : nil } }
            #expect(ids == Array(1...160))
        }
    }

    @Test func cachedJobFollowsOtherNodes() async throws {
        let job = try await nodes[0].create()
        _ = try await eventually("the notice") { nodes[1].store.lastDelivered >= 1 ? true : nil }
        // The beginning of the follower empties the cache.
        _ = try await eventually("the job in the cache") {
            let state = try await nodes[1].store.job(job.id).state
            return state == .queued && nodes[1].store.cachedJob(job.id) != nil ? true : nil
        }
        _ = try await nodes[0].store.apply(.pauseRequested, to: job.id)
        _ = try await eventually("the change") {
            try await nodes[1].store.job(job.id).state == .paused ? true : nil
        }
        // The writer of the other node has no outdated version either.
        _ = try await nodes[1].store.apply(.resumeRequested, to: job.id)
        #expect(try await nodes[1].store.job(job.id).revision == 3)
    }

    /// The notice of such a commit has no room for the identifiers.
    @Test func changeOfManyJobsIsOneOfAnyJob() async throws {
        _ = try await nodes[0].create()
        // At its beginning, a node takes all jobs for changed.
        _ = try await eventually("the notice") { nodes[1].store.lastDelivered >= 1 ? true : nil }
        let isSeen = Locked(false)
        nodes[1].store.addCommitObserver { commit in isSeen.withLock { $0 = $0 || commit.hasAnyJob } }
        let many = (0..<300).map { NewJob(session: .default, spec: JobSpec(url: "https://host/\($0)")) }
        _ = try await nodes[0].store.createJobs(many)
        _ = try await eventually("the change") { isSeen.withLock(\.self) ? true : nil }
    }

    @Test func tokenThatAnotherNodeRevokesIsRefused() async throws {
        let digest = TokenDigest(Array(repeating: 7, count: 32))
        let token = try await nodes[0].store.createToken(NewToken(grant: .everything), with: digest)
        let store = nodes[1].store
        _ = try await eventually("the token") { store.tokens.match(digest, at: store.time.now) }
        try await nodes[0].store.deleteToken(token.id)
        _ = try await eventually("the end of the token") {
            store.tokens.match(digest, at: store.time.now) == nil ? true : nil
        }
    }

    /// The answer to the commit of the rotation was lost, so its hook runs after another node has revoked the token.
    @Test func lateHookDoesNotRestoreARevokedToken() async throws {
        let (first, second) = (TokenDigest(Array(repeating: 7, count: 32)), TokenDigest(Array(repeating: 8, count: 32)))
        let token = try await nodes[0].store.createToken(NewToken(grant: .everything), with: first)
        let store = nodes[1].store
        _ = try await eventually("the token") { store.tokens.match(first, at: store.time.now) }
        let rotated = try await store.writer.write { try $0.rotateToken(token.id, to: second, overlap: 0) }
        try await nodes[0].store.deleteToken(token.id)
        _ = try await eventually("the end of the token") {
            store.tokens.match(first, at: store.time.now) == nil ? true : nil
        }
        store.tokens.put(rotated)
        _ = try await eventually("the end of the restored token") {
            store.tokens.match(second, at: store.time.now) == nil ? true : nil
        }
    }

    @Test func limitsHoldOverAllNodes() async throws {
        for index in 0..<6 { _ = try await nodes[index % 2].create("https://host\(index % 2)/\(index)") }
        var limits = AdmissionLimits(jobs: 2, ofAllNodes: 3, connectionsPerHost: 2)
        let first = try await nodes[0].store.admitJobs(limits) { _ in }.admitted
        #expect(first.map(\.job.node) == [nodes[0].number, nodes[0].number])
        let second = try await nodes[1].store.admitJobs(limits) { _ in }.admitted
        #expect(second.map(\.job.node) == [nodes[1].number])
        limits.jobsOfAllNodes = nil
        // Both hosts together have four connections.
        #expect(try await nodes[1].store.admitJobs(limits) { _ in }.admitted.count == 1)
        #expect(try await nodes[1].store.admitJobs(limits) { _ in }.admitted.isEmpty)
    }

    /// Also while a node has not learned of the token.
    @Test func quotasOfATokenHoldOverAllNodes() async throws {
        let quotas = TokenQuotas(bytesPerDay: 1000, concurrentTransfers: 1)
        let digest = TokenDigest(Array(repeating: 7, count: 32))
        let token = try await nodes[0].store.createToken(
            NewToken(grant: Permissions(.jobs)!, quotas: quotas), with: digest)
        let store = nodes[1].store
        _ = try await eventually("the token") { store.tokens.match(digest, at: store.time.now) }
        #expect(store.tokens.replaceAll(by: [], readAt: store.tokens.version))
        _ = try await nodes[0].store.createJobs(
            (0..<3).map { NewJob(session: .default, spec: JobSpec(url: "https://host/\($0)")) },
            by: JobCreator(visible: .all, token: token.id, quotas: quotas))
        let limits = AdmissionLimits(jobs: 9, connectionsPerHost: 9)
        let admitted = try await store.admitJobs(limits) { _ in }.admitted
        #expect(admitted.count == 1)
        // No other node has committed in between.
        #expect(try await store.admitJobs(limits) { _ in }.admitted.isEmpty)
        let job = try #require(admitted.first).job
        let part = StoreFixture.part(store.makePartID().text, durable: 60, size: nil)
        try await store.checkpoint([(job: job.id, admission: 1, part: part)], received: [job.id: 60])
        let bytes = try await store.read { try $0.value("SELECT bytes FROM token_bytes", as: Int.self) }
        #expect(bytes == 60)
    }

    @Test func jobContinuesWhereItsPartIs() async throws {
        let job = try await runningOnFirst()
        let part = nodes[0].store.makePartID()
        #expect(part.owner == nodes[0].store.node)
        var report = AttemptReport()
        report.part = StoreFixture.part(part.text)
        _ = try await nodes[0].store.apply(.attemptStopped(.pause), to: job.id, report)
        _ = try await nodes[1].store.apply(.resumeRequested, to: job.id)
        let other = try await nodes[1].create()
        let limits = AdmissionLimits(jobs: 1, connectionsPerHost: 9)
        #expect(try await nodes[1].store.admitJobs(limits) { _ in }.admitted.map(\.job.id) == [other.id])
        #expect(try await nodes[0].store.admitJobs(limits) { _ in }.admitted.map(\.job.id) == [job.id])
    }

    /// Another node takes the part from one job and gives it to another one, in one commit.
    @Test func partThatAnotherJobTakesOverIsNotRemoved() async throws {
        let donor = try await runningOnFirst()
        var report = AttemptReport()
        report.part = StoreFixture.part(nodes[0].store.makePartID().text)
        _ = try await nodes[0].store.apply(.attemptStopped(.pause), to: donor.id, report)
        let heir = try await nodes[1].store.createJobs(
            [NewJob(session: .default, spec: donor.spec, resumeFrom: donor.id)])[0]
        #expect(heir.part?.id == report.part?.id)
        #expect(try await nodes[0].store.removals().isEmpty)
        // Without the heir, nothing needs the file.
        _ = try await nodes[1].store.apply(.cancelRequested(keepsPart: false), to: heir.id)
        #expect(try await nodes[0].store.removals().count == 1)
    }

    /// The second node has the files of before the nodes.
    @Test func olderFilesBelongToTheFirstNode() async throws {
        let paused = try await runningOnFirst()
        var report = AttemptReport()
        report.part = StoreFixture.part("part_A")
        _ = try await nodes[0].store.apply(.attemptStopped(.pause), to: paused.id, report)
        let succeeded = try await runningOnFirst()
        let promotion = StoreFixture.promotion(of: succeeded.id)
        _ = try await nodes[0].store.apply(.finalizePlanned(promotion), to: succeeded.id)
        _ = try await nodes[0].store.apply(.finalized(nil), to: succeeded.id)
        _ = try fixture.connect().execute(PostgresStatement("UPDATE jobs SET node = NULL"))
        let older = try await nodes[1].store.filesWithoutNode()
        #expect(older.parts == [PartID("part_A")] && older.files.map(\.path) == ["\(succeeded.id)"])
        try await nodes[1].store.becomeFirstNode()
        try await nodes[0].store.becomeFirstNode()
        #expect(nodes.map(\.store.firstNode) == [nodes[1].number, nodes[1].number])
        // The job continues there, and files are removed there.
        _ = try await nodes[0].store.apply(.resumeRequested, to: paused.id)
        let limits = AdmissionLimits(jobs: 1, connectionsPerHost: 9)
        #expect(try await nodes[0].store.admitJobs(limits) { _ in }.admitted.isEmpty)
        _ = try await nodes[0].store.apply(.cancelRequested(keepsPart: false), to: paused.id)
        _ = try await nodes[0].store.deleteJob(succeeded.id, removingFileElsewhere: true)
        #expect(try await nodes[1].store.removals().count == 2)
    }

    @Test func restartKnowsTheFirstNode() async throws {
        try await nodes[1].store.becomeFirstNode()
        _ = try await eventually("the other node to know it") {
            nodes[0].store.firstNode == nodes[1].number ? true : nil
        }
        try await nodes[0].store.close()
        let again = try await TestedNode(fixture, nodes[0].folder, key: nodes[0].key)
        #expect(again.store.firstNode == nodes[1].number)
    }

    @Test func jobOfANodeThatHasLeftBeginsElsewhere() async throws {
        let job = try await runningOnFirst()
        var report = AttemptReport()
        report.part = StoreFixture.part(nodes[0].store.makePartID().text)
        _ = try await nodes[0].store.apply(.attemptInterrupted, to: job.id, report)
        let limits = AdmissionLimits(jobs: 1, connectionsPerHost: 9)
        #expect(try await nodes[1].store.admitJobs(limits) { _ in }.admitted.isEmpty)
        try await leave(nodes[0])
        _ = try await eventually("the admission") {
            let admitted = try? await nodes[1].store.admitJobs(limits) { _ in }.admitted
            return admitted?.map(\.job.id) == [job.id] ? true : nil
        }
    }

    @Test func additionalConnectionsAreClaimedWithinTheLimits() async throws {
        let job = try await runningOnFirst()
        let wish = AdmissionLimits.Taken(session: job.session, host: "host:443", count: 2)
        let limits = AdmissionLimits(jobs: 9, connectionsPerHost: 3)
        let first = try await nodes[0].store.claimConnections([], wanted: [wish], limits)
        #expect(first.map(\.count).reduce(0, +) == 2)
        // One connection of the job and two additional ones are the limit of the host.
        #expect(try await nodes[1].store.claimConnections([], wanted: [wish], limits).isEmpty)
        _ = try await nodes[1].create()
        #expect(try await nodes[1].store.admitJobs(limits) { _ in }.admitted.isEmpty)
        _ = try await nodes[0].store.claimConnections([], wanted: [], limits)
        #expect(try await nodes[1].store.admitJobs(limits) { _ in }.admitted.count == 1)
    }

    /// A node without others opens connections that it has not claimed.
    @Test func ownConnectionsWithoutAClaimAreCounted() async throws {
        let job = try await runningOnFirst()
        _ = try await nodes[0].create()
        var limits = AdmissionLimits(jobs: 9, connectionsPerHost: 3)
        limits.taken = [.init(session: job.session, host: "host:443", count: 2)]
        #expect(try await nodes[0].store.admitJobs(limits) { _ in }.admitted.isEmpty)
        _ = try await nodes[0].store.claimConnections(limits.taken, wanted: [], limits)
        // Nothing is counted twice.
        limits.connectionsPerHost = 4
        #expect(try await nodes[0].store.admitJobs(limits) { _ in }.admitted.count == 1)
    }

    @Test func progressAndDemandReachOtherNodes() async throws {
        let job = try await runningOnFirst()
        let live = LiveProgress(phase: .transferring, bytesReceived: 7, bytesDurable: 5, bytesExpected: 9, tick: 3)
        let demand = Locked<[Name: NodeExchange.Demand]>([:])
        nodes[0].store.exchange.connect {
            [.init(job: job.id, session: job.session, live: live)]
        } onDemand: { new in
            demand.withLock { $0 = new }
        }
        let report = try await eventually("the progress") { nodes[1].store.exchange[job.id] }
        #expect(report.live == live && report.session == job.session)
        #expect(nodes[0].store.exchange.others.isEmpty)
        _ = try await eventually("the demand") {
            demand.withLock { $0[.default] } == .init(own: 1, all: 1) ? true : nil
        }
    }

    @Test func changedLimitOfANodeIsListed() async throws {
        let slots = Locked(16)
        nodes[0].store.exchange.reportSlots { slots.withLock(\.self) }
        for expected in [7, 0] {
            slots.withLock { $0 = expected }
            _ = try await eventually("the limit") {
                try await nodes[1].store.nodes().map(\.slots) == [expected, 16] ? true : nil
            }
        }
    }

    @Test func progressOfAJobThatHasEndedIsRemoved() async throws {
        let jobs = Locked((0..<20).map { JobID("job_\($0)") })
        let live = LiveProgress(phase: .transferring, bytesReceived: 7, bytesDurable: 5, bytesExpected: 9, tick: 3)
        nodes[0].store.exchange.connect {
            jobs.withLock(\.self).map { NodeExchange.Report(job: $0, session: .default, live: live) }
        } onDemand: { _ in
        }
        let other = try fixture.connect()
        let stored = PostgresStatement("SELECT job FROM node_progress")
        _ = try await eventually("all rows") { try other.execute(stored).count == 20 ? true : nil }
        jobs.withLock { $0 = [JobID("job_7")] }
        _ = try await eventually("one row") { try other.execute(stored).count == 1 ? true : nil }
        #expect(try other.execute(stored)[0].value(0, as: String.self) == "job_7")
    }

    @Test func stopOfAJobElsewhereIsAsked() async throws {
        let job = try await runningOnFirst()
        let outcome = try await nodes[1].store.apply(.pauseRequested, to: job.id)
        #expect(outcome.job.state == .running(.attempting))
        await nodes[0].store.work(.attempts).wait()
        let requests = try await nodes[0].store.attemptRequests()
        #expect(requests.map(\.job) == [job.id] && requests[0].stop == .asked(.pause))
        #expect(try await nodes[1].store.attemptRequests().isEmpty)
        _ = try await nodes[0].store.apply(.attemptStopped(.pause), to: job.id)
        #expect(try await nodes[0].store.attemptRequests().isEmpty)
    }

    /// A request that was read before the end of its attempt must not stop the next one.
    @Test func requestNamesItsAttempt() async throws {
        let job = try await runningOnFirst()
        _ = try await nodes[1].store.apply(.pauseRequested, to: job.id)
        #expect(try await nodes[0].store.attemptRequests().map(\.admission) == [job.admissions])
        _ = try await nodes[0].store.apply(.attemptStopped(.pause), to: job.id)
        _ = try await nodes[0].store.apply(.resumeRequested, to: job.id)
        let limits = AdmissionLimits(jobs: 1, connectionsPerHost: 1)
        _ = try await nodes[0].store.admitJobs(limits) { _ in }
        #expect(try await nodes[0].store.attemptRequests().isEmpty)
        _ = try await nodes[1].store.apply(.pauseRequested, to: job.id)
        #expect(try await nodes[0].store.attemptRequests().map(\.admission) == [job.admissions + 1])
    }

    /// A client that waits for the stop repeats it every second.
    @Test func repeatedStopOfAJobElsewhereNeedsNoCommit() async throws {
        let job = try await runningOnFirst()
        _ = try await nodes[1].store.apply(.pauseRequested, to: job.id)
        let commits = nodes[1].store.activity.commits
        let repeated = try await nodes[1].store.apply(.pauseRequested, to: job.id)
        #expect(repeated.job.state == .running(.attempting))
        #expect(nodes[1].store.activity.commits == commits)
        // Another stop replaces the first one.
        _ = try await nodes[1].store.apply(.cancelRequested(keepsPart: false), to: job.id)
        #expect(nodes[1].store.activity.commits == commits + 1)
        #expect(try await nodes[0].store.attemptRequests().first?.stop == .asked(.cancel(keepsPart: false)))
    }

    @Test func changedSpecificationOfAJobElsewhereIsAsked() async throws {
        let job = try await runningOnFirst()
        var spec = job.spec
        spec.rateLimit = 1000
        let present = try await nodes[1].store.job(job.id)
        _ = try await nodes[1].store.patchJob(
            job.id, from: present.spec, to: spec, fields: [.rateLimit], expecting: nil)
        let requests = try await nodes[0].store.attemptRequests()
        #expect(requests.map(\.job) == [job.id] && requests[0].stop == nil)
        let read = Locked<[JobSpec]>([])
        try await nodes[0].store.consumeChangedSpecifications(of: [job.id]) { jobs in
            read.withLock { $0 = jobs.map(\.spec) }
        }
        #expect(read.withLock(\.self) == [spec])
        #expect(try await nodes[0].store.attemptRequests().isEmpty)
    }

    /// The rates of running transfers follow the commits: first the admission of this node, then the change.
    @Test func changedConfigurationOfAnotherNodeIsTakenInCommitOrder() async throws {
        let (films, gone) = (Name(trusted: "films"), Name(trusted: "gone"))
        var configuration = SessionConfiguration()
        configuration.rateLimit = 1000
        _ = try await nodes[0].store.declareSession(films, configuration: configuration)
        let (store, order) = (nodes[0].store, Locked<[Int64?]>([]))
        let limits = AdmissionLimits(jobs: 1, connectionsPerHost: 1)
        _ = try await store.createJobs([NewJob(session: films, spec: JobSpec(url: "https://host/file"))])
        _ = try await store.admitJobs(limits) { admitted in
            order.withLock { $0 += admitted.map(\.spec.sessionRateLimit) }
        }
        configuration.rateLimit = 2000
        _ = try await nodes[1].store.declareSession(films, configuration: configuration)
        await store.work(.configurations).wait()
        try await store.consumeConfigurations {
            order.withLock(\.isEmpty) ? [] : [films, gone]
        } onCommit: { configurations in
            order.withLock { $0 += configurations.values.map(\.rateLimit) }
        }
        #expect(order.withLock(\.self) == [1000, 2000])
    }

    private func runningOnFirst() async throws -> Job {
        let job = try await nodes[0].create()
        let admitted = try await nodes[0].store.admitJobs(AdmissionLimits(jobs: 1, connectionsPerHost: 1)) { _ in }
        return try #require(admitted.admitted.first { $0.job.id == job.id }).job
    }

    @Test func jobsOfAnEndedNodeAreTakenOver() async throws {
        let job = try await runningOnFirst()
        try expire(nodes[0])
        let takeover = try await nodes[1].takeOver()
        #expect(takeover.nodes == [nodes[0].number] && takeover.queued == 1 && takeover.isComplete)
        let queued = try await nodes[1].store.job(job.id)
        #expect(queued.state == .queued && queued.attempts == 0 && queued.node == nil)
        // The former owner stores nothing any more, and learns why.
        await #expect(throws: StoreError.nodeReplaced) {
            _ = try await nodes[0].store.apply(.attemptFailed(StoreFixture.failure), to: job.id)
        }
        _ = try await eventually("the loss") { nodes[0].isLost.withLock(\.self) ? true : nil }
        #expect(!nodes[0].store.holdsLease)
        #expect(throws: StoreError.leaseEnded) { try nodes[0].store.requireLease() }
        #expect(throws: Never.self) { try nodes[1].store.requireLease() }
        // Several groups can fail, and the thread of the lease learns it, too.
        for _ in 0..<2 { nodes[0].store.writer.report(.nodeReplaced) }
        #expect(nodes[0].losses.withLock(\.self) == 1)
    }

    /// They wait for times of the former clock.
    @Test(.timeLimit(.minutes(5))) func jumpThatAnotherNodeHasStoredWakesTheWorkers() async throws {
        // The first signal comes with the connection of the follower.
        await nodes[1].store.work(.parts).wait()
        _ = try fixture.connect().execute(
            PostgresStatement("INSERT INTO clock_jumps (last_event, at, by) VALUES (0, 0, 3600000)"))
        _ = try await nodes[1].create()
        await nodes[1].store.work(.parts).wait()
    }

    /// The clock of the server jumps, and all leases have ended.
    @Test func jumpOfTheClockEndsNoLease() async throws {
        let takeover = try await nodes[1].store.writer.write { [time = nodes[1].serverTime] transaction in
            // The rows stay locked until the commit, so that no lease is renewed meanwhile.
            try transaction.run("UPDATE nodes SET expires_at = 1")
            return try transaction.takeOverNodes(at: time, sharesDownloads: false, limit: 500)
        }
        #expect(takeover.nodes == [])
        #expect(nodes.allSatisfy { $0.store.holdsLease })
    }

    struct SeenLease: Sendable {
        /// The end of the lease, in milliseconds after the server's present time.
        var end: Int64
        /// What the node that looks adds to the server's present time, in milliseconds.
        var estimate: Int64 = 0
        var hasEnded: Bool
    }

    @Test(arguments: [
        SeenLease(end: -5000, hasEnded: true),
        SeenLease(end: 5000, hasEnded: false),
        SeenLease(end: 13_000, hasEnded: false),
        // The clock was set back after the node had died.
        SeenLease(end: 60_000, hasEnded: true),
        // The clock has jumped ahead, and this node, which has renewed its own lease just before, has not noticed it.
        SeenLease(end: -1000, estimate: -8000, hasEnded: false),
        // The clock was set back, and neither node has noticed it.
        SeenLease(end: 65_000, estimate: 60_000, hasEnded: false),
    ]) func leaseEndsByBothClocks(_ lease: SeenLease) async throws {
        let (first, second) = (nodes[0].number, nodes[1].number)
        let now = try #require(nodes[1].serverTime)
        let update = "UPDATE nodes SET expires_at = \(ServerTime.now) + CAST(? AS bigint) WHERE number = ?"
        let takeover = try await nodes[1].store.writer.write { transaction in
            try transaction.run(update, [lease.end, first])
            try transaction.run(update, [Int64(10_000), second])
            return try transaction.takeOverNodes(at: now + lease.estimate, sharesDownloads: false, limit: 500)
        }
        #expect(takeover.nodes == (lease.hasEnded ? [first] : []))
    }

    @Test func promotionInALocalFolderIsRepeated() async throws {
        let job = try await runningOnFirst()
        _ = try await nodes[0].store.apply(.finalizePlanned(StoreFixture.promotion(of: job.id)), to: job.id)
        try expire(nodes[0])
        let takeover = try await nodes[1].takeOver()
        #expect(takeover.queued == 1 && takeover.promoting == 0)
        #expect(try await nodes[1].store.ownPromotions().isEmpty)
        let waiting = try await nodes[1].store.job(job.id)
        #expect(waiting.state.wait?.name == .storage && waiting.attempts == 0, "\(waiting)")
        // The node may have moved the file to its place before it died.
        let removals = try await nodes[0].store.removals()
        #expect(removals.map(\.subject) == [.file(StoreFixture.promotion(of: job.id).file)])
    }

    /// The row of a removal is a key, whose entries PostgreSQL limits to 2,704 bytes. Random characters are not
    /// compressed.
    @Test func fileWithALongPathAndContentTypeIsDropped() async throws {
        let job = try await runningOnFirst()
        let (path, type) = (Self.randomText(1280), Self.randomText(3000))
        let promotion = StoreFixture.promotion(of: job.id, path: path, contentType: type)
        _ = try await nodes[0].store.apply(.finalizePlanned(promotion), to: job.id)
        _ = try await nodes[0].store.apply(.finalized(nil), to: job.id)
        _ = try await nodes[1].store.deleteJob(job.id, removingFileElsewhere: true)
        let removals = try await nodes[0].store.removals()
        let reduced = FinishedFile(path: path, size: promotion.file.size, sha256: nil, contentType: nil)
        #expect(removals.map(\.subject) == [.file(reduced)])
        try await nodes[0].store.forget(removals)
        #expect(try await nodes[0].store.removals().isEmpty)
    }

    private static func randomText(_ length: Int) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_ ;=,()!#$%&'*+")
        return String((0..<length).compactMap { _ in letters.randomElement() })
    }

    @Test func promotionInASharedFolderIsContinued() async throws {
        let job = try await runningOnFirst()
        _ = try await nodes[0].store.apply(.finalizePlanned(StoreFixture.promotion(of: job.id)), to: job.id)
        try expire(nodes[0])
        let takeover = try await nodes[1].takeOver(sharesDownloads: true)
        #expect(takeover.queued == 0 && takeover.promoting == 1)
        // The store has them as long as they are not complete, also if the answer to the takeover was lost.
        #expect(try await nodes[1].store.ownPromotions().map(\.job.id) == [job.id])
        #expect(try await nodes[1].store.job(job.id).node == nodes[1].number)
    }

    @Test func nodeRecoversItsOwnJobsOnly() async throws {
        let job = try await runningOnFirst()
        #expect(try await nodes[1].store.recoverInterrupted().interrupted == 0)
        #expect(try await nodes[1].store.job(job.id).state == .running(.attempting))
        #expect(try await nodes[0].store.recoverInterrupted().interrupted == 1)
    }

    @Test func nodeThatNeverReturnsIsForgotten() async throws {
        let donor = try await runningOnFirst()
        var report = AttemptReport()
        report.part = StoreFixture.part(nodes[0].store.makePartID().text)
        _ = try await nodes[0].store.apply(.attemptStopped(.pause), to: donor.id, report)
        let running = try await runningOnFirst()
        let (store, number) = (nodes[1].store, nodes[0].number)
        func expectUse(_ why: String) async throws {
            let error = await #expect(throws: StoreError.self) { try await store.forgetNode(number) }
            guard case .nodeInUse(number, let found)? = error, found.contains(why) else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        try await expectUse("lease")
        try await leave(nodes[0])
        try await expectUse("jobs")
        _ = try await nodes[1].takeOver()
        // Nothing else removes this row.
        _ = try await store.apply(.cancelRequested(keepsPart: false), to: donor.id)
        try await store.forgetNode(number)
        #expect(try await store.nodes().map(\.node.number) == [nodes[1].number])
        #expect(try fixture.connect().execute(PostgresStatement("SELECT 1 FROM file_deletions")).isEmpty)
        #expect(try await store.job(running.id).state == .queued)
        await #expect(throws: StoreError.noSuchNode(number)) { try await store.forgetNode(number) }
        await #expect(throws: StoreError.noSuchNode(number)) { try await store.url(ofNode: number) }
        // Its number is not given again.
        let again = try await TestedNode(fixture, nodes[0].folder, key: nodes[0].key)
        #expect(again.number > nodes[1].number && again.store.node?.epoch == 1)
    }

    @Test func filesOfAForgottenNodeNeedNoRow() async throws {
        let donor = try await runningOnFirst()
        var report = AttemptReport()
        report.part = StoreFixture.part(nodes[0].store.makePartID().text)
        _ = try await nodes[0].store.apply(.attemptStopped(.pause), to: donor.id, report)
        try await leave(nodes[0])
        try await nodes[1].store.forgetNode(nodes[0].number)
        _ = try await nodes[1].store.apply(.cancelRequested(keepsPart: false), to: donor.id)
        #expect(try await nodes[1].store.job(donor.id).part == nil)
        #expect(try fixture.connect().execute(PostgresStatement("SELECT 1 FROM file_deletions")).isEmpty)
    }

    /// Stops the node. On a busy machine, its lease can have ended before, and then it gives none back.
    private func leave(_ node: TestedNode) async throws {
        try await node.store.close()
        let statement = PostgresStatement("UPDATE nodes SET expires_at = NULL WHERE number = $1", [.int8(node.number)])
        _ = try fixture.connect().execute(statement)
    }

    /// Ends the lease, as time does if the node does not renew it. The node itself sees nothing of it.
    private func expire(_ node: TestedNode) throws {
        let statement = PostgresStatement("UPDATE nodes SET expires_at = 1 WHERE number = $1", [.int8(node.number)])
        _ = try fixture.connect().execute(statement)
    }

    @Test func versionWithTheDatabaseForItselfKeepsItAlone() async throws {
        for node in nodes { try await node.store.close() }
        let other = try fixture.connect()
        let lock = PostgresStatement(
            "SELECT pg_try_advisory_lock(hashtext('fetchd'), hashtext(current_schema()))", isPrepared: false)
        _ = try await eventually("the lock") {
            try other.execute(lock).first?.value(0, as: Bool.self) == true ? true : nil
        }
        let error = await #expect(throws: StoreError.self) { try await TestedNode(fixture, key: nodes[0].key) }
        guard case .databaseInUse? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func anotherKeyIsRefused() async throws {
        let error = await #expect(throws: StoreError.self) {
            try await TestedNode(fixture, key: try TestedNode.makeKey())
        }
        guard case .keyWrong? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
