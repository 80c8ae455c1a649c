import ArgumentParser

/// Something done to each of several: one that refuses does not keep the others from it, and the first refusal is what the
/// command ends with.
enum BestEffort {
    static func run(on ids: [String], _ console: Console, _ act: (String) async throws -> Void) async throws {
        var firstError: ClientError?
        for id in ids {
            do {
                try await act(id)
            } catch let error as ClientError where ids.count > 1 && error.concernsOneOfMany {
                console.report(error)
                firstError = firstError ?? error
            }
        }
        if let firstError { throw ExitCode(firstError.status.rawValue) }
    }
}

extension ClientError {
    /// Others may fare better.
    fileprivate var concernsOneOfMany: Bool { [.refused, .missing, .conflicting, .broken].contains(status) }
}
