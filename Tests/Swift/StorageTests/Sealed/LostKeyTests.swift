import Downloads
import Foundation
import HTTPSemantics
import Sealing
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// A store whose key is lost goes on without the secrets that the key has sealed, if the administrator accepts that.
@Suite(.onSQLite) struct LostKeyTests {
    private func reopen(_ fixture: StoreFixture, acceptingLoss: Bool = false) throws -> Store {
        var options = fixture.options
        options.acceptsLostSecrets = acceptingLoss
        return try Store(at: fixture.folder.path, options: options, time: fixture.time)
    }

    private func refusal(_ fixture: StoreFixture) -> String {
        "\(String(describing: #expect(throws: StoreError.self) { try reopen(fixture) }))"
    }

    @Test func isNotOpenedWithoutItsKey() async throws {
        let fixture = try StoreFixture()
        let jobs = try await PlantedSecrets.plant(in: fixture.store)
        try await fixture.store.close()
        let path = fixture.folder.path("fetchd.key")
        let key = try #require(try KeyFile(path: path).read())
        try FileManager.default.removeItem(atPath: path)
        let before = fixture.folder.bytes(of: "fetchd.sqlite")
        let refused = refusal(fixture)
        let lost = "secrets of 5 jobs, 1 session, 1 webhook, 1 part of a job and 1 answer to a repeated request"
        for text in [lost, "--accept-lost-secrets", "--key-file", path] {
            #expect(refused.contains(text), "\(refused)")
        }
        #expect(fixture.folder.bytes(of: "fetchd.sqlite") == before)
        #expect(!fixture.folder.files.contains("fetchd.key"))
        try KeyFile(path: path).write(key)
        try await PlantedSecrets.expectPresent(jobs, in: try reopen(fixture))
    }

    /// Such as one on a disk that is not mounted yet.
    @Test func isNotOpenedWithALinkToAMissingKey() async throws {
        let fixture = try StoreFixture()
        try await fixture.store.close()
        let path = fixture.folder.path("fetchd.key")
        try FileManager.default.moveItem(atPath: path, toPath: fixture.folder.path("other"))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: fixture.folder.path("away"))
        #expect(refusal(fixture).contains("is a link"))
        #expect(throws: StoreError.self) { try reopen(fixture, acceptingLoss: true) }
        try FileManager.default.moveItem(
            atPath: fixture.folder.path("other"), toPath: fixture.folder.path("away"))
        try await reopen(fixture).close()
    }

    @Test func makesANewKeyIfTheLostOneHasSealedNothing() async throws {
        let fixture = try StoreFixture()
        let lost = fixture.store.sealer.keys.current
        try await fixture.store.close()
        try FileManager.default.removeItem(atPath: fixture.folder.path("fetchd.key"))
        #expect(try reopen(fixture).sealer.keys.current.id != lost.id)
    }

    /// A key that fits is used, and the new key of a start that accepts the loss is the key of all later starts.
    @Test func acceptsTheLossOnce() async throws {
        let (store, jobs, fixture) = try await storeWithoutKey()
        let key = store.sealer.keys.current
        try await store.close()
        for accepts in [true, false] {
            let again = try reopen(fixture, acceptingLoss: accepts)
            #expect(again.sealer.keys.current.id == key.id)
            #expect(try await again.job(jobs[0]).spec.lost.contains(.credentials))
            try await again.close()
        }
    }

    /// The store after the loss of its key file.
    private func storeWithoutKey() async throws -> (store: Store, jobs: [JobID], fixture: StoreFixture) {
        let fixture = try StoreFixture()
        let jobs = try await PlantedSecrets.plant(in: fixture.store)
        _ = try await fixture.store.createJobs([NewJob(session: .default, spec: JobSpec(url: "https://host/plain"))])
        try await fixture.store.close()
        try FileManager.default.removeItem(atPath: fixture.folder.path("fetchd.key"))
        return (try reopen(fixture, acceptingLoss: true), jobs, fixture)
    }

    @Test func knowsWhatIsLostOfAJob() async throws {
        let (store, jobs, fixture) = try await storeWithoutKey()
        defer { withExtendedLifetime(fixture) {} }
        let spec = try await store.job(jobs[0]).spec
        #expect(spec.lost == [.url, .headers, .credentials, .body])
        #expect(spec.url == "https://host/film.mkv?..." && spec.mirrors == ["https://mirror/film.mkv?..."])
        #expect(spec.headers.map(\.value) == ["[secret]", "video/mp4"])
        #expect(spec.credentials == nil && spec.body == nil && spec.tags == ["red"] && spec.method == .post)
        #expect(try await store.job(jobs[1]).part?.url == "https://host/film.mkv?...")
        let receipt = try await store.job(jobs[3]).state.finish?.receipt
        #expect(receipt?.finalURL == "https://cdn/film.mkv?...")
        #expect(receipt?.redirects == ["https://host/?...", "https://host/b"])
        let plain = try await store.jobs(JobQuery(session: .default)).jobs
        #expect(plain.map(\.spec.lost) == [[]])
        let resolved = ResolvedSpec(
            try await store.job(jobs[0]), in: try await store.session(PlantedSecrets.session).session.configuration)
        #expect(resolved.missingSecrets?.code == .credentialsRequired)
        #expect(resolved.waitFor(after: try #require(resolved.missingSecrets)) == [.credentials])
    }

    @Test func jobsGoOnWhenTheirSecretsAreSuppliedAgain() async throws {
        let (store, jobs, fixture) = try await storeWithoutKey()
        defer { withExtendedLifetime(fixture) {} }
        _ = try await store.admitJobs(AdmissionLimits(jobs: 1, connectionsPerHost: 100)) { _ in }
        let job = try await store.job(jobs[0])
        let configuration = try await store.session(PlantedSecrets.session).session.configuration
        let loss = try #require(ResolvedSpec(job, in: configuration).missingSecrets)
        _ = try await store.apply(.attemptDeferred(Wait(.credentials, cause: loss)), to: job.id)
        var spec = try await store.job(job.id).spec
        let before = spec
        spec.url = "https://host/film.mkv?signature=new"
        spec.endLoss(supplied: [.url])
        #expect(spec.lost == [.headers, .credentials, .body])
        _ = try await store.patchJob(job.id, from: before, to: spec, fields: [.url], expecting: nil)
        #expect(try await store.job(job.id).state == .queued)
    }

    @Test func sessionGoesOnWhenItIsDeclaredAgain() async throws {
        let (store, _, fixture) = try await storeWithoutKey()
        defer { withExtendedLifetime(fixture) {} }
        let name = PlantedSecrets.session
        let lost = try await store.session(name).session.configuration
        #expect(lost.lost == [.headers, .proxy])
        #expect(lost.headers.map(\.value) == ["[secret]", "[secret]", "video/mp4"])
        #expect(lost.proxy?.url == "socks5://127.0.0.1:1080" && lost.proxy?.username == nil)
        // What is sent back as it was shown is still lost.
        var shown = lost
        shown.lost = []
        #expect(try await store.declareSession(name, configuration: shown).status.session.configuration == lost)
        #expect(
            try await store.declareSession(name, configuration: PlantedSecrets.configuration).status.session
                .configuration == PlantedSecrets.configuration)
    }

    @Test func disablesWebhooksAndEnablesThemWhenTheyAreDeclaredAgain() async throws {
        let (store, _, fixture) = try await storeWithoutKey()
        defer { withExtendedLifetime(fixture) {} }
        let (name, session) = (PlantedSecrets.hook, PlantedSecrets.session)
        #expect(try await store.disableWebhooksWithoutSecrets() == 1)
        #expect(try await store.disableWebhooksWithoutSecrets() == 0)
        let webhook = try await store.webhook(name, of: session)
        #expect(webhook.state.reason == "The key that sealed its secrets is lost.")
        #expect(webhook.lost == [.url, .headers, .secret] && webhook.secret == nil)
        #expect(webhook.url == "https://consumer/hook?..." && webhook.headers.map(\.name) == ["X-Tenant"])
        await #expect(throws: StoreError.webhookSecretsLost(name, [.url, .headers, .secret])) {
            try await store.enableWebhook(name, of: session)
        }
        let rotated = try await store.rotateSecret(of: name, of: session, to: nil)
        #expect(rotated.secret != nil && rotated.formerSecrets.isEmpty)
        #expect(try await store.webhook(name, of: session).lost == [.url, .headers])
        await #expect(throws: StoreError.webhookSecretsLost(name, [.url])) {
            try await store.declareWebhook(name, of: session, as: WebhookDeclaration(url: webhook.url))
        }
        let declared = try await store.declareWebhook(
            name, of: session, as: WebhookDeclaration(url: "https://consumer/hook?new"))
        #expect(!declared.isNew && !declared.hasNewSecret)
        #expect(declared.webhook.state == .enabled() && declared.webhook.lost.isEmpty)
        #expect(declared.webhook.secret == rotated.secret)
    }

    @Test func aDeclarationMakesANewSecretForALostOne() async throws {
        let (store, _, fixture) = try await storeWithoutKey()
        defer { withExtendedLifetime(fixture) {} }
        let declared = try await store.declareWebhook(
            PlantedSecrets.hook, of: PlantedSecrets.session, as: WebhookDeclaration(url: "https://consumer/"))
        #expect(!declared.isNew && declared.hasNewSecret && declared.webhook.secret != nil)
    }

    @Test func aRepeatedRequestCreatesNothing() async throws {
        let (store, _, fixture) = try await storeWithoutKey()
        defer { withExtendedLifetime(fixture) {} }
        let count = try await store.jobs(JobQuery()).jobs.count
        await #expect(throws: StoreError.answerLost("k")) {
            try await store.createJobs(
                [NewJob(session: .default, spec: JobSpec(url: "https://host/"))], once: PlantedSecrets.claim
            ) { _ in PlantedSecrets.answer }
        }
        #expect(try await store.jobs(JobQuery()).jobs.count == count)
    }

    /// The sealed values stay until they are supplied again.
    @Test func readsEverythingAgainWithTheKeyThatWasFound() async throws {
        let fixture = try StoreFixture()
        let jobs = try await PlantedSecrets.plant(in: fixture.store)
        let lost = fixture.store.sealer.keys.current
        try await fixture.store.close()
        let file = KeyFile(path: fixture.folder.path("fetchd.key"))
        try FileManager.default.removeItem(atPath: file.path)
        var store = try reopen(fixture, acceptingLoss: true)
        let new = store.sealer.keys.current
        #expect(new.id != lost.id)
        try await store.close()
        try file.write([new, lost])
        store = try Store(at: fixture.folder.path, options: fixture.options, time: fixture.time)
        #expect(store.sealer.keys.current.id == new.id)
        try await PlantedSecrets.expectPresent(jobs, in: store)
    }

    @Test func anotherKeyIsTakenIfTheLossIsAccepted() async throws {
        let fixture = try StoreFixture()
        let jobs = try await PlantedSecrets.plant(in: fixture.store)
        let lost = fixture.store.sealer.keys.current
        try await fixture.store.close()
        let (key, file) = (SealingKey.random(), KeyFile(path: fixture.folder.path("fetchd.key")))
        try file.write([key])
        #expect(refusal(fixture).contains("sealed with another key"))
        let store = try reopen(fixture, acceptingLoss: true)
        #expect(store.sealer.keys.current.id == key.id)
        #expect(try await store.job(jobs[0]).spec.lost.contains(.credentials))
        try await store.close()
        // The right key is put back, in place of the one that is used now.
        try file.write([lost])
        #expect(refusal(fixture).contains("a key file that has both keys"))
        try file.write([lost, key])
        try await PlantedSecrets.expectPresent(jobs, in: try reopen(fixture))
    }

    @Test(.onSQLite) func anotherKeyIsAcceptedAfterTheLostOneIsGivenUp() async throws {
        let fixture = try StoreFixture()
        let jobs = try await PlantedSecrets.plant(in: fixture.store)
        try await fixture.store.close()
        let key = SealingKey.random()
        try KeyFile(path: fixture.folder.path("fetchd.key")).write([key])
        #expect(throws: StoreError.self) {
            try Store(at: fixture.folder.path, options: fixture.options, time: fixture.time)
        }
        try KeyRotation.giveUpKey(inDataFolder: fixture.folder.path)
        let store = try Store(at: fixture.folder.path, options: fixture.options, time: fixture.time)
        #expect(store.sealer.keys.current.id == key.id)
        #expect(try await store.job(jobs[0]).spec.lost.contains(.credentials))
    }
}
