import ArgumentParser

/// Runs an action for each of several items. If the service refuses one, the command reports it and continues with the others.
/// The first refusal determines the exit status.
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
    /// The same action can succeed for another item.
    fileprivate var concernsOneOfMany: Bool { [.refused, .missing, .conflicting, .broken].contains(status) }
}
