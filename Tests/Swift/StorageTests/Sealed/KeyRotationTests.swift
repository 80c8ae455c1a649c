import Base
import Downloads
import Foundation
import Sealing
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// A rotation seals everything with another key. After a crash in any step, the store opens and nothing is lost.
@Suite(.onSQLite) struct KeyRotationTests {
    private struct Interruption: Error {}

    /// A closed store with planted secrets.
    private func stage() async throws -> (folder: TemporaryFolder, jobs: [JobID], key: String) {
        let fixture = try StoreFixture()
        let jobs = try await PlantedSecrets.plant(in: fixture.store)
        let key = fixture.store.sealer.keys.current.id
        try await fixture.store.close()
        return (fixture.folder, jobs, key)
    }

    private func open(_ folder: TemporaryFolder, _ source: KeySource = .dataFolder) throws -> Store {
        var options = Store.Options()
        options.key = source
        return try Store(at: folder.path, options: options, time: ManualTime())
    }

    private func contains(_ text: String, _ folder: TemporaryFolder) -> Bool {
        folder.files.contains { name in
            Data(folder.bytes(of: name) ?? []).range(of: Data(text.utf8)) != nil
        }
    }

    @Test func sealsEverythingWithANewKey() async throws {
        let (folder, jobs, old) = try await stage()
        #expect(contains(old, folder))
        let steps = Locked<[KeyRotation.Step]>([])
        let new = try await KeyRotation(
            inDataFolder: folder.path, source: .dataFolder, newKeyFile: nil,
            afterStep: { step in steps.withLock { $0.append(step) } }
        ).run()
        #expect(steps.withLock { $0 } == KeyRotation.Step.allCases)
        #expect(new != old)
        #expect(try KeyFile(path: folder.path("fetchd.key")).read()?.map(\.id) == [new])
        // Not even in the free space of the file.
        #expect(!contains(old, folder))
        PlantedSecrets.expectHidden(in: folder)
        let store = try open(folder)
        try await PlantedSecrets.expectPresent(jobs, in: store)
    }

    /// The folder is copied after the step, as SIGKILL would leave it, and the rotation ends with an error.
    @Test(arguments: KeyRotation.Step.allCases)
    func theStoreOpensAfterACrashInEachStep(_ last: KeyRotation.Step) async throws {
        let (folder, jobs, old) = try await stage()
        let copy = Locked<CrashedFolder?>(nil)
        let rotation = KeyRotation(
            inDataFolder: folder.path, source: .dataFolder, newKeyFile: nil,
            afterStep: { step in
                guard step == last else { return }
                let crashed = try CrashedFolder(copying: folder)
                copy.withLock { $0 = crashed }
                throw Interruption()
            })
        await #expect(throws: Interruption.self) { try await rotation.run() }
        let crashed = try #require(copy.withLock { $0 }).folder
        for folder in [crashed, folder] {
            let store = try open(folder)
            try await PlantedSecrets.expectPresent(jobs, in: store, "\(last)")
            try await store.close()
            // The rotation can be repeated, and ends as if nothing had happened.
            let new = try await KeyRotation(inDataFolder: folder.path, source: .dataFolder, newKeyFile: nil).run()
            #expect(try KeyFile(path: folder.path("fetchd.key")).read()?.map(\.id) == [new])
            #expect(!contains(old, folder), "\(last)")
            let rotated = try open(folder)
            try await PlantedSecrets.expectPresent(jobs, in: rotated, "\(last)")
            try await rotated.close()
        }
    }

    @Test func takesANewKeyFromAFile() async throws {
        let (folder, jobs, old) = try await stage()
        let keys = try TemporaryFolder()
        let file = KeyFile(path: keys.path("new"))
        let key = SealingKey.random()
        try file.write([key])
        let rotation = KeyRotation(inDataFolder: folder.path, source: .dataFolder, newKeyFile: file.path)
        #expect(try await rotation.run() == key.id)
        // The administrator keeps the keys, so the former file is not changed.
        #expect(try KeyFile(path: folder.path("fetchd.key")).read()?.map(\.id) == [old])
        #expect(throws: StoreError.self) { try open(folder) }
        let store = try open(folder, .file(file.path))
        try await PlantedSecrets.expectPresent(jobs, in: store)
    }

    @Test func refusesWhatItCannotDo() async throws {
        let (folder, jobs, _) = try await stage()
        let command = "cat \(folder.path("fetchd.key"))"
        await #expect(throws: StoreError.self) {
            try await KeyRotation(inDataFolder: folder.path, source: .command(command), newKeyFile: nil).run()
        }
        let empty = try TemporaryFolder()
        await #expect(throws: StoreError.folderUnusable(path: empty.path, why: "it has no database")) {
            try await KeyRotation(inDataFolder: empty.path, source: .dataFolder, newKeyFile: nil).run()
        }
        #expect(empty.files.isEmpty)
        let store = try open(folder, .command(command))
        await #expect(throws: StoreError.folderInUse(path: folder.path)) {
            try await KeyRotation(inDataFolder: folder.path, source: .dataFolder, newKeyFile: nil).run()
        }
        #expect(throws: StoreError.folderInUse(path: folder.path)) {
            try KeyRotation.giveUpKey(inDataFolder: folder.path)
        }
        try await PlantedSecrets.expectPresent(jobs, in: store)
    }
}
