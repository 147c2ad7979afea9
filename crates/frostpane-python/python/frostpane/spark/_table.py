"""The table that keeps panes between build and release. **It holds unnoised counts.**"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ConflictError, ParameterError, StateError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "store string, fingerprint string, build string, pane bigint, bytes binary, seal binary"


class PaneTable:
    """A folder of Parquet files, or a table of a catalog, with the panes of one store."""

    def __init__(self, spark: SparkSession, name: str, store: str) -> None:
        self.is_folder = "/" in name
        if not self.is_folder and "." not in name:
            raise ParameterError(
                f"{name!r} says too little of where panes go, which hold what users did: give a folder such as /data/panes, or a table with its catalog or database"
            )
        self.spark, self.name, self.store = spark, name, store

    def exists(self) -> bool:
        return Folder(self.spark, self.name).exists() if self.is_folder else self.spark.catalog.tableExists(self.name)

    def rows(self) -> DataFrame:
        if self.is_folder:
            return self.spark.read.schema(SCHEMA).parquet(self.name)
        return self.spark.table(self.name)

    def check(self) -> None:
        """Checks that no pane is of another store."""
        if not self.exists():
            return
        from pyspark.sql import functions as F

        if self.rows().where(F.col("store") != self.store).select("store").head(1):
            raise ConflictError(
                f"the table {self.name} holds panes of another store, whose budget this one does not know: give the store that it belongs to, or another "
                "table. Nothing was charged"
            )

    def append(self, panes: DataFrame, fingerprint: str, build: str) -> None:
        """Writes the panes of a build, which count when the store has recorded it."""
        from pyspark.sql import functions as F

        named = {"store": self.store, "fingerprint": fingerprint, "build": build}
        columns = [F.lit(value).alias(name) for name, value in named.items()]
        writer = panes.select(*columns, "pane", "bytes", "seal").write.mode("append")
        if self.is_folder:
            writer.partitionBy("store", "build").parquet(self.name)
        elif self.exists():
            writer.insertInto(self.name)
        else:
            writer.saveAsTable(self.name)

    def seals(self, build: str, numbers: tuple[int, int]) -> list[bytes]:
        """The seals of the panes of a build, in order."""
        from pyspark.sql import functions as F

        kept = self._of_store().where(F.col("build") == build).select("pane", "seal").collect()
        seals = {row["pane"]: bytes(row["seal"]) for row in kept}
        if sorted(seals) != list(range(*numbers)):
            raise StateError(f"the table {self.name} has not kept all panes that were written to it: build them again. Nothing was charged")
        return [seals[number] for number in range(*numbers)]

    def panes(self, awaited: list[tuple[int, str, str]]) -> list[bytes]:
        """The panes that a store awaits, in order."""
        from pyspark.sql import functions as F

        builds = sorted({build for _, build, _ in awaited})
        kept: dict[tuple[int, str], bytes] = {}
        if self.exists():
            found = self._of_store().where(F.col("build").isin(builds)).select("pane", "build", "bytes").collect()
            kept = {(row["pane"], row["build"]): bytes(row["bytes"]) for row in found}
        if missing := sum((number, build) not in kept for number, build, _ in awaited):
            raise StateError(
                f"{missing} of the panes that were built are not in the table {self.name}: give the table that they are in. Nothing was charged"
            )
        return [kept[number, build] for number, build, _ in awaited]

    def _of_store(self) -> DataFrame:
        from pyspark.sql import functions as F

        return self.rows().where(F.col("store") == self.store)

    def expire(self, oldest: int) -> None:
        """Deletes builds whose panes are beyond the reach of any window. A table of a catalog is left to
        its owner."""
        from pyspark.sql import functions as F

        if not self.is_folder or not self.exists():
            return
        latest = self._of_store().groupBy("build").agg(F.max("pane").alias("latest"))
        for row in latest.where(F.col("latest") < oldest).collect():
            Folder(self.spark, f"{self.name}/store={self.store}/build={row['build']}").delete()


class Folder:
    """A folder, on any file system that Spark reads."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        gateway: Any = spark._jvm
        self.spark, self.path = spark, path
        self._path = gateway.org.apache.hadoop.fs.Path(path)
        self._files = self._path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())

    def exists(self) -> bool:
        return bool(self._files.exists(self._path))

    def create(self) -> None:
        self._files.mkdirs(self._path)

    def delete(self) -> None:
        self._files.delete(self._path, True)

    def folders(self) -> list[Folder]:
        """The folders in it, by name."""
        if not self.exists():
            return []
        inside = [each for each in self._files.listStatus(self._path) if each.isDirectory()]
        return sorted((Folder(self.spark, each.getPath().toString()) for each in inside), key=lambda folder: folder.path)

    def below(self, name: str) -> Folder:
        return Folder(self.spark, f"{self.path}/{name}")

    @property
    def name(self) -> str:
        return str(self._path.getName())
