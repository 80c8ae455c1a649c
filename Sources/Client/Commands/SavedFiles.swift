/// Saves finished files locally, one after the other. If a file cannot be saved, the command continues with the others and
/// prints how to get that file later: it is still in the service's downloads folder.
struct SavedFiles: Sendable {
    let service: RemoteService
    let console: Console
    /// A folder, or the path of the only file.
    let place: String
    let deadline: Deadline

    /// - Returns: the first error. The others have been reported.
    func fetch(_ jobs: [JobDocument]) async -> (any Error)? {
        do {
            let troubles = try await Interruption.cancelling {
                try await deadline.limiting { try await fetchEach(jobs) }
            }
            for trouble in troubles.dropFirst() { console.report(trouble) }
            return troubles.first
        } catch {
            return error
        }
    }

    private func fetchEach(_ jobs: [JobDocument]) async throws -> [ClientError] {
        var troubles: [ClientError] = []
        for job in jobs {
            do {
                let file = try await FileDownload(service, job).save(to: place)
                if let file, !console.isJSON { try console.print(file) }
            } catch let error as ClientError {
                try Task.checkCancellation()
                troubles.append(
                    ClientError(
                        error.status, "The file cannot be saved",
                        "\(error.sentence) The service has the file. To save it: fetchd get -o PATH \(job.id)"))
            }
        }
        return troubles
    }
}
