import Downloads
import Foundation
import TestKit
import Testing

/// Redirects.
extension TransferScenario {
    static let redirects = places + elsewhere + nowhere

    /// References to be resolved (RFC 3986, section 5), some of them odd.
    private static let places: [TransferScenario] = [
        place("to a path", { "\($0.path)/there" }, at: "/there"),
        place("to a name beside it", { "\($0.number).beside" }, at: ".beside"),
        place("to a query of its own", { _ in "?there" }, at: "?there"),
        place("without a scheme", { "//127.0.0.1:\($0.origin.port)\($0.path)/there" }, at: "/there"),
        place("with a fragment", { "\($0.path)/there#chapter" }, at: "/there"),
        place(
            "with a space and letters beyond ASCII", { "\($0.path)/the file é" }, at: "/the%20file%20%c3%a9"),
        place("through `..`", { "/a/../..\($0.path)/there" }, at: "/there"),
    ]

    /// - Parameter target: the file's location, appended to the row's own path.
    private static func place(
        _ name: String, _ location: @escaping @Sendable (Trial) -> String, at target: String
    ) -> TransferScenario {
        TransferScenario(name) { trial in
            let target = trial.path + target
            if !target.contains("?") { trial.origin.serve(target, .file(trial.file)) }
            let ending = try await trial.begin(.serving(.redirect(to: location(trial))).once)
            #expect(ending.job["receipt"]["redirects"] == [.string(trial.url)])
            #expect(trial.origin.requests.contains { $0.target == target })
            // The file is named after the last URL, with a number if another row's file has that name.
            let last = target.prefix { $0 != "?" }.split(separator: "/").last ?? ""
            let name = try #require(last.removingPercentEncoding)
            #expect(ending.job["file"]["path"].string?.hasPrefix(name) == true)
            return ending
        }
    }

    private static let elsewhere: [TransferScenario] = [
        .init("to another origin, with credentials and headers") { trial in
            let other = try Origin()
            other.serve("/there", .file(trial.file))
            trial.origin.serve(trial.path, .redirect(to: other.url("/there")))
            let ending = try await trial.download(with: [
                "headers": ["X-Api-Key": "a secret"],
                "credentials": ["type": "basic", "username": "ada", "password": "lovelace"],
            ])
            for (requests, isTold) in [(trial.requests, true), (other.requests, false)] {
                #expect(requests.count == 1)
                for name in ["X-Api-Key", "Authorization"] {
                    #expect(requests.allSatisfy { ($0.header(name) != nil) == isTold }, "\(name)")
                }
            }
            return ending
        },
        .init("20 times") { try await $0.redirect(times: 20) },
        .init("21 times") { try await $0.redirect(times: 21) },
        .init("to itself") { trial in
            let ending = try await trial.begin(from: .redirect(to: trial.path))
            #expect(trial.requests.count == 21)
            return ending
        },
        .init("to what is not there") { try await $0.begin(from: .redirect(to: "/nowhere")) },
    ]

    private static let nowhere: [TransferScenario] = [
        .init("to `file:`") { try await $0.begin(from: .redirect(to: "file:///etc/passwd")) },
        .init("to what is no address") { try await $0.begin(from: .redirect(to: "http://[::1")) },
        .init("without saying where to") { trial in
            let ending = try await trial.begin(from: .fixed(status: 302, body: Trial.page))
            #expect(ending.job["failure"]["status"] == 302)
            return ending
        },
    ]
}

extension Trial {
    /// Redirects the given number of times, and then serves the file.
    fileprivate func redirect(times count: Int) async throws -> Ending {
        for step in 0..<count {
            origin.serve("\(path)/\(step)", step == 0 ? .file(file) : .redirect(to: "\(path)/\(step - 1)"))
        }
        return try await begin(from: .redirect(to: "\(path)/\(count - 1)"))
    }
}
