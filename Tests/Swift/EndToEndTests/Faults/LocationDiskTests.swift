import Formats
import Foundation
import TestKit
import Testing

/// Two locations on disks of their own: one becomes full, one is unmounted. Only their jobs wait.
@Suite(.enabled(if: MountNamespace.isPossible)) struct LocationDiskTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Mounts 4 MB of memory at `$0/full`, and a disk at `$0/disk` that is also `$0/films`.
    private static let launcher = [
        "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
        """
        mkdir -p "$0/full" "$0/disk" "$0/films" && mount -t tmpfs -o size=4m tmpfs "$0/full" &&
            mount -t tmpfs -o size=64m tmpfs "$0/disk" && mount --bind "$0/disk" "$0/films" || exit 1
        exec setpriv --pdeathsig KILL -- "$@"
        """,
    ]

    /// Runs a program among the mounts of the service.
    private func run(_ command: String..., besides service: FetchdProcess) async throws {
        let outcome = try await ChildProcess.run(
            "nsenter", ["--target", "\(service.pid)", "--user", "--mount", "--preserve-credentials"] + command)
        #expect(outcome.succeeded, "\(outcome)")
    }

    private func location(_ name: String, _ api: APIClient) async throws -> JSON {
        let list = try await api.get("/v1/locations").json["locations"].arrayValue ?? []
        return list.first { $0["name"].string == name } ?? .null
    }

    @Test func onlyTheJobsOfAFullAndOfAnUnmountedDiskWait() async throws {
        let scene = try await Scene(
            process: .init(
                arguments: [
                    "--location", "full=\(folder.path("full"))?minimum_free_bytes=0", "--location",
                    "films=\(folder.path("films"))",
                ], launcher: Self.launcher + [folder.path]), in: folder)
        let api = scene.api
        let large = Content.random(seed: 3, count: 6_000_000)
        scene.origin.serve("/large", .file(large))
        scene.origin.serve("/first", .file(large), .waiting(at: 3_000_000, for: scene.gate))
        let full = try await api.submit(scene.order("/large", ("destination", ["location": "full"])))
        let held = try await api.submit(scene.order("/first", ("destination", ["location": "films"])))
        #expect(try await api.waitForJob(full, .waiting)["reason"] == "space")
        try await api.waitForBytes(held, atLeast: 3_000_000)
        try await run("umount", "--lazy", folder.path("films"), besides: scene.process)
        _ = try await eventually("the location to fail") {
            try await location("films", api)["healthy"] == false ? true : nil
        }
        let late = try await api.submit(scene.order("/large", ("destination", ["location": "films"])))
        #expect(try await api.waitForJob(late, .waiting)["reason"] == "storage")
        let other = try await api.waitForJob(try await api.submit(scene.order("/large")), .succeeded)
        #expect(scene.fetchd.downloaded(other["file"]["path"].string ?? "") == large)
        #expect(try await api.get("/readyz").status == 200)
        let (small, films) = (try await location("full", api), try await location("films", api))
        #expect(small["waiting"] == 1 && small["healthy"] == true && films["waiting"] == 1)
        // Nothing went to the folder below the mount.
        #expect(folder.files.allSatisfy { !$0.hasPrefix("films/") })
        try await run("mount", "--bind", folder.path("disk"), folder.path("films"), besides: scene.process)
        scene.gate.open()
        for id in [held, late] { try await api.waitForJob(id, .succeeded) }
        #expect(try await api.job(full)["state"] == "waiting")
    }
}
