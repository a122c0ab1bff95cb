package manifest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Content is what the plain manifests below an Application's sources in this
// repository hold, and what of them is gone at the revision before: for a lint
// of a commit, its parent; before a revert, the tip with the commit's paths put
// back.
func (r *Reader) Content(ctx context.Context, ask arming.ContentAsk) arming.Content {
	c, err := r.content(ctx, ask)
	if err != nil {
		return arming.Content{Unknown: err.Error()}
	}
	return c
}

func (r *Reader) content(ctx context.Context, ask arming.ContentAsk) (arming.Content, error) {
	if len(ask.Sources) == 0 {
		return arming.Content{}, errors.New("no source is in this repository")
	}
	now, then := map[verdict.ObjectID]document{}, map[verdict.ObjectID]document{}
	for _, s := range ask.Sources {
		if s.Path == "" && s.Ref != "" {
			return arming.Content{}, errors.New("a source lends its files to another (ref)")
		}
		if !s.Plain {
			return arming.Content{}, fmt.Errorf("the manifests below %q are rendered by a tool", s.Path)
		}
		before, after, err := r.sides(ctx, ask, s.Path)
		if err != nil {
			return arming.Content{}, err
		}
		if err := r.objects(ctx, now, after, s); err != nil {
			return arming.Content{}, err
		}
		if err := r.objects(ctx, then, before, s); err != nil {
			return arming.Content{}, err
		}
		if len(after) == 0 {
			return arming.Content{}, fmt.Errorf("no file lies in %q: is it, or a folder above it, a symbolic link?", s.Path)
		}
	}
	return compare(now, then), nil
}

// sides lists what lies below a folder before and after. Along a line of commits
// it follows from what each changes.
func (r *Reader) sides(ctx context.Context, ask arming.ContentAsk, dir string) (before, after map[string]string, err error) {
	if ask.Over != nil {
		after, err = r.repo.Below(ctx, ask.At, dir)
		return overlay(after, ask.Over, dir), after, err
	}
	if ask.Changed == nil {
		if before, err = r.repo.Below(ctx, ask.Back, dir); err == nil {
			after, err = r.repo.Below(ctx, ask.At, dir)
		}
		return before, after, err
	}
	in := scope{"\x00" + dir, dir, func(name string) bool { return dir == "" || strings.HasPrefix(name, dir+"/") }}
	list := func(tree arming.TreeAsk) (map[string]string, error) {
		return r.follow(ctx, tree, in, func() (listing, error) {
			files, err := r.repo.Below(ctx, tree.Commit, dir)
			return listing{tree.Commit, files}, err
		})
	}
	if before, err = list(arming.TreeAsk{Commit: ask.Back}); err != nil {
		return nil, nil, err
	}
	before = maps.Clone(before) // it is changed when the next one follows
	after, err = list(arming.TreeAsk{Commit: ask.At, Parent: ask.Back, Changed: ask.Changed})
	return before, after, err
}

// overlay puts contents in the place of those below a folder.
func overlay(files, over map[string]string, dir string) map[string]string {
	out := make(map[string]string, len(files))
	for name, id := range files {
		out[name] = id
	}
	for name, id := range over {
		switch {
		case dir != "" && !strings.HasPrefix(name, dir+"/"):
		case id == "":
			delete(out, name)
		default:
			out[name] = id
		}
	}
	return out
}

func compare(now, then map[verdict.ObjectID]document) arming.Content {
	var c arming.Content
	for _, id := range order(now) {
		o := describe(id, now[id])
		was, there := then[id]
		o.Changed = !there || !reflect.DeepEqual(was, now[id])
		c.Objects = append(c.Objects, o)
		if !there {
			c.Removed = append(c.Removed, id)
		}
	}
	return c
}

// document is one manifest, as JSON would decode it.
type document map[string]any

// placed is an object of a file, and where it stands there.
type placed struct {
	id  verdict.ObjectID
	doc document
	at  string
}

// objects reads the files that Argo CD's directory source reads. Tools are
// found by their files, as Argo CD finds them.
func (r *Reader) objects(ctx context.Context, out map[verdict.ObjectID]document, files map[string]string, s verdict.Source) error {
	var read []string // names of the files
	for _, name := range sorted(files) {
		base, dir := path.Base(name), path.Dir(name)
		if dir == "." {
			dir = ""
		}
		switch {
		case dir == s.Path && tool(base):
			return fmt.Errorf("%q makes a tool render the manifests", name)
		case dir != s.Path && !s.Recurse:
			continue
		case strings.HasSuffix(base, ".jsonnet"):
			return fmt.Errorf("%q makes Jsonnet render the manifests", name)
		case !IsManifest(base):
		case isLink(files[name]):
			return fmt.Errorf("%q is a symbolic link: Argo CD reads what it points to, and that may change without it", name)
		default:
			read = append(read, name)
		}
	}
	if len(read) > maxFiles {
		return fmt.Errorf("%q holds more than %d manifests", s.Path, maxFiles)
	}
	ids := make([]string, len(read))
	for i, name := range read {
		ids[i] = files[name]
	}
	held, err := r.held(ctx, ids)
	if err != nil {
		return err
	}
	total := 0
	for i, name := range read {
		file := held[ids[i]]
		switch total += file.size; {
		case total > maxTotal:
			return fmt.Errorf("the manifests below %q have more than %d bytes together", s.Path, maxTotal)
		case file.err != nil:
			return fmt.Errorf("%s: %w", name, file.err)
		}
		for _, o := range file.objects {
			if _, twice := out[o.id]; twice {
				return fmt.Errorf("%s: %s: %s stands twice", name, o.at, o.id)
			}
			out[o.id] = o.doc
		}
	}
	return nil
}

// heldFile is what a file of manifests holds.
type heldFile struct {
	objects []placed
	size    int
	err     error
}

// maxHeld bounds the files whose objects are kept for the next commit, in bytes.
const maxHeld = 8 << 20

// held reads contents, of which those that were read for an earlier commit are
// at hand.
func (r *Reader) held(ctx context.Context, ids []string) (map[string]heldFile, error) {
	held := make(map[string]heldFile, len(ids))
	var unread []string
	for _, id := range ids {
		file, known := r.holding[id]
		if _, twice := held[id]; !known && !twice {
			unread = append(unread, id)
		}
		held[id] = file
	}
	total := 0
	err := r.repo.Small(ctx, unread, maxFile, func(id string, data []byte) error {
		file := heldFile{size: len(data)}
		switch total += len(data); {
		case data == nil:
			file.err = ErrLarge
		case total > maxTotal: // whoever asked adds up
		default:
			file.err = documents(data, func(n *yaml.Node) error { return file.collect(n, true) })
		}
		held[id] = file
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, id := range unread {
		if r.holds += held[id].size; r.holds > maxHeld {
			r.holding, r.holds = map[string]heldFile{}, held[id].size
		}
		if held[id].size <= maxHeld && total <= maxTotal {
			r.holding[id] = held[id]
		}
	}
	return held, nil
}

// tool reports whether a file in a source's folder makes Argo CD use a tool, or
// changes the source's own settings.
func tool(base string) bool {
	switch base {
	case "kustomization.yaml", "kustomization.yml", "Kustomization", "Chart.yaml":
		return true
	}
	return strings.HasPrefix(base, ".argocd-source")
}

// collect adds an object, or the items of a list.
func (f *heldFile) collect(n *yaml.Node, top bool) error {
	fields, err := Object(n)
	if err != nil {
		return err
	}
	if items, is := fields["items"].([]any); top && is && strings.HasSuffix(fmt.Sprint(fields["kind"]), "List") {
		if list := member(n, "items"); len(items) > 0 && list != nil {
			for _, item := range list.Content {
				if err := f.collect(item, false); err != nil {
					return err
				}
			}
		}
		return nil
	}
	id, ok := identify(fields)
	if !ok {
		if meta, _ := fields["metadata"].(map[string]any); meta["generateName"] != nil {
			return at(n, "its name is generated, so it is another object every time")
		}
		return at(n, "it is no object with kind and name")
	}
	f.objects = append(f.objects, placed{id, fields, fmt.Sprintf("%d:%d", n.Line, n.Column)})
	return nil
}

// kubernetesProgressDeadline is what counts for a Deployment that says nothing.
const kubernetesProgressDeadline = 600 * time.Second

// describe reads of a manifest what the rules ask.
func describe(id verdict.ObjectID, d document) arming.Object {
	o := arming.Object{ID: id}
	spec, _ := d["spec"].(map[string]any)
	o.Replicas = spec["replicas"] != nil
	if id.Kind == "Deployment" && id.Group == "apps" {
		o.ProgressDeadline = kubernetesProgressDeadline
		if n, err := json.Number(fmt.Sprint(spec["progressDeadlineSeconds"])).Int64(); err == nil && n >= 0 && n < 1<<31 {
			o.ProgressDeadline = time.Duration(n) * time.Second
		}
	}
	if target, ok := spec["scaleTargetRef"].(map[string]any); ok && id.Kind == "HorizontalPodAutoscaler" {
		kind, _ := target["kind"].(string)
		name, _ := target["name"].(string)
		o.Scales = &verdict.ObjectID{Kind: kind, Name: name}
	}
	meta, _ := d["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if options, ok := annotations["argocd.argoproj.io/sync-options"].(string); ok {
		for option := range strings.SplitSeq(options, ",") {
			o.SyncOptions = append(o.SyncOptions, strings.TrimSpace(option))
		}
	}
	o.Images = images(podSpec(id.Kind, spec))
	return o
}

// podSpec finds the pods of the workloads that Kubernetes has.
func podSpec(kind string, spec map[string]any) map[string]any {
	inner := func(m map[string]any, keys ...string) map[string]any {
		for _, key := range keys {
			m, _ = m[key].(map[string]any)
		}
		return m
	}
	switch kind {
	case "Pod":
		return spec
	case "CronJob":
		return inner(spec, "jobTemplate", "spec", "template", "spec")
	default:
		return inner(spec, "template", "spec")
	}
}

func images(pod map[string]any) (out []string) {
	for _, key := range []string{"initContainers", "containers"} {
		list, _ := pod[key].([]any)
		for _, c := range list {
			container, _ := c.(map[string]any)
			if image, ok := container["image"].(string); ok && image != "" {
				out = append(out, image)
			}
		}
	}
	return out
}

func order(m map[verdict.ObjectID]document) []verdict.ObjectID {
	return slices.SortedFunc(maps.Keys(m), func(a, b verdict.ObjectID) int { return strings.Compare(a.String(), b.String()) })
}
