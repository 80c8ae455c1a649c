import Downloads
import Storage

extension AttemptRun {
    /// Syncs the bytes that the attempt has written, so that they are durable.
    func keptPart(of attempt: Attempt) async -> KeptPart {
        guard let file = attempt.partFile, !file.written.isEmpty else { return KeptPart() }
        let folder = services.folder
        _ = try? await file.lane.run {
            try? file.trim()
            if file.isDirty || !file.isNameDurable { _ = folder.syncForPromise([file]) }
        }
        guard let fault = file.fault else { return KeptPart(part: attempt.part) }
        if fault.isForeign { return KeptPart(isForeign: true) }
        services.log.error(
            "Could not sync part \(file.id) of \(attempt.job.id): \(fault.reason). The job returns to its last promise."
        )
        return KeptPart(part: await copy(of: file, attempt), isRolledBack: true)
    }

    /// Copies the promised bytes to a new file.
    ///
    /// - Returns: nil when no bytes were promised, or when they cannot be copied.
    private func copy(of file: PartFile, _ attempt: Attempt) async -> Part? {
        guard !file.durable.isEmpty, var part = attempt.part else { return nil }
        part.id = services.store.makePartID()
        let (folder, id) = (services.folder, part.id)
        do {
            try await file.lane.run { try folder.copyDurable(of: file, to: id) }
            return part
        } catch {
            services.log.error(
                "Could not copy the promised bytes of part \(file.id): \(error). The job restarts from 0.")
            return nil
        }
    }
}
